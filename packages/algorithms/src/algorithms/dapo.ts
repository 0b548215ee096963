/** Decoupled clip and dynamic sampling policy optimisation: its loss. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers, trlNumbers, verlNumbers } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';
import { clipSettings, groupRelative, groupRelativeSettings } from './grpo.ts';

/**
 * DAPO, eq. 8 and 10. Its sampling of mixed groups is a scheduler; its length penalty is
 * `overlongPenalty`, a reward.
 */
export const dapo: Algorithm = composeAlgorithm({
  name: 'dapo',
  paper: 'arXiv:2503.14476',
  description: 'GRPO without KL, with more room above than below, every token weighing the same.',
  settings: { ...sharedSettings, ...groupRelativeSettings, ...clipSettings, clipHigh: 0.28 },
  profiles: {
    paper: { ...paperNumbers, stdEpsilon: 0 },
    verl: { ...verlNumbers, stdEpsilon: 1e-6, singleton: 'reward', dualClip: 3 },
    trl: { ...trlNumbers, stdEpsilon: 1e-4, clipHigh: 0.2 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
