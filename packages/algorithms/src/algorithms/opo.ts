/** On-policy RL with the optimal reward baseline. */
import { lengthWeighted } from '../advantages/length-weighted.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { gradientOrClip, gradientOrClipSettings } from '../group-relative.ts';
import { paperNumbers, verlGroup } from '../profiles.ts';

/**
 * OPO weighs the baseline with length and makes exactly one update per step, without KL or entropy
 * bonus. verl has the baseline on its clipped loss.
 */
export const opo: Algorithm = composeAlgorithm({
  name: 'opo',
  paper: 'arXiv:2505.23585',
  description: 'Rewards minus the group mean weighted by length.',
  settings: { ...lengthWeighted.settings, ...gradientOrClipSettings },
  profiles: {
    paper: {
      ...paperNumbers,
      surrogate: 'log-probability',
      aggregation: 'sequence-mean-token-sum',
    },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: lengthWeighted(settings),
    needs: ['tokenCounts'],
    surrogate: gradientOrClip(settings),
  }),
});
