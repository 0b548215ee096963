/** The objective of PyVision-RL. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, verlNumbers } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { clipSettings, groupRelative, groupRelativeSettings } from './grpo.ts';

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
    ...sharedSettings,
    ...groupRelativeSettings,
    ...clipSettings,
    scale: 'none',
    dualClip: 3,
  },
  profiles: {
    paper: { ...paperNumbers, dualClip: 0 },
    verl: { ...verlNumbers, singleton: 'reward' },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
