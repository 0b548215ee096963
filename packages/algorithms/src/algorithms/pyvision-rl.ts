/** The objective of PyVision-RL. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * PyVision-RL, eq. 2, trained with verl, whose loss always has a dual clip at 3: the profile `paper`
 * is the paper's text alone. Oversampling, filtering and ranking are a scheduler, the tool reward a
 * reward.
 */
export const pyvisionRl: Algorithm = composeAlgorithm({
  name: 'pyvision-rl',
  paper: 'arXiv:2602.20739',
  description: 'Rewards minus the group mean, no std, no KL, every token weighing the same.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { scale: 'none', dualClip: 3 },
  profiles: {
    paper: { ...paperGroup, dualClip: 0 },
    verl: verlGroup,
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
