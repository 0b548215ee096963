/** The objective of PyVision-RL. */
import { choice } from '@saccade/core/settings';
import { accuracyBaseline } from '../advantages/accuracy-baseline.ts';
import type { Algorithm } from '../algorithm.ts';
import type { Choices } from '../choices.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/** The `grpo_w_anb` estimator of its code; KL is not among what it takes the mean of. */
const byAccuracy: Pick<Choices, 'groupAdvantage' | 'needs' | 'klReward' | 'unread'> = {
  groupAdvantage: accuracyBaseline(),
  needs: ['terms'],
  klReward: 'centered',
  unread: ['scale'],
};

/**
 * PyVision-RL, eq. 2, trained with verl, whose loss always has a dual clip at 3: the profile `paper`
 * is the paper's text alone. Oversampling, filtering and ranking are a scheduler, the tool reward a
 * reward.
 */
export const pyvisionRl: Algorithm = composeAlgorithm({
  name: 'pyvision-rl',
  paper: 'arXiv:2602.20739',
  description: 'Rewards minus the group mean, no std, no KL, every token weighing the same.',
  settings: {
    ...groupRelativeSettings,
    ...clipped.settings,
    baseline: choice(['group', 'accuracy'], {
      default: 'group',
      about: 'What is taken off a reward: the group’s mean, or its mean accuracy, never scaled.',
    }),
  },
  defaults: { scale: 'none', dualClip: 3 },
  profiles: {
    paper: { ...paperGroup, dualClip: 0 },
    verl: verlGroup,
  },
  choose: (settings) => ({
    ...(settings.baseline === 'accuracy' ? byAccuracy : groupRelative(settings)),
    surrogate: clipped(settings),
  }),
});
