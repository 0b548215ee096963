/** REINFORCE with the other trajectories of the group as the baseline. */

import { flag } from '@saccade/core/settings';
import { leaveOneOut } from '../advantages/leave-one-out.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { gradientOrClip, gradientOrClipSettings } from '../group-relative.ts';
import { paperNumbers, trlNumbers, verlGroup } from '../profiles.ts';
import { standardized } from '../token-advantages/standardized.ts';

const isStandardized = flag({
  default: false,
  about: 'Whether advantages are standardized once more over the sequences of the step.',
});

/**
 * The paper takes the whole answer as one action and makes one update per step, with KL in the
 * reward. verl has the baseline on its token-wise clipped loss. TRL's RLOOTrainer clips the ratio of
 * the whole sequence and subtracts KL (k1, 0.05) from the reward; `isStandardized` is its
 * `normalize_advantages`.
 */
export const rloo: Algorithm = composeAlgorithm({
  name: 'rloo',
  paper: 'arXiv:2402.14740',
  description: 'Each trajectory is compared with the others of its group.',
  settings: {
    ...leaveOneOut.settings,
    ...standardized.settings,
    isStandardized,
    ...gradientOrClipSettings,
  },
  profiles: {
    paper: {
      ...paperNumbers,
      surrogate: 'log-probability',
      aggregation: 'sequence-mean-token-sum',
      kl: 'k1',
      klPlace: 'reward',
    },
    verl: verlGroup,
    trl: {
      ...trlNumbers,
      stdEpsilon: 1e-4,
      ratio: 'sequence-sum',
      aggregation: 'sequence-mean-token-mean',
      kl: 'k1',
      klPlace: 'reward',
      klCoefficient: 0.05,
    },
  },
  choose: (settings) => ({
    groupAdvantage: leaveOneOut(settings),
    ...(settings.isStandardized && { tokenAdvantage: standardized(settings) }),
    surrogate: gradientOrClip(settings),
  }),
});
