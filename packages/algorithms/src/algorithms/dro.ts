/** Policy gradient with a quadratic pull to the old policy. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, verlNumbers } from '../profiles.ts';
import { droSurrogate } from '../surrogates/dro.ts';

/**
 * DRO suits trajectories that other policies sampled. verl's `dro`, whose coefficient has no default.
 */
export const dro: Algorithm = composeAlgorithm({
  name: 'dro',
  paper: 'arXiv:2405.19107',
  description: 'Policy gradient with a squared log-ratio instead of a clip.',
  settings: { ...groupRelativeSettings, ...droSurrogate.settings },
  profiles: {
    paper: paperGroup,
    verl: { ...verlNumbers, stdEpsilon: 1e-6 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: droSurrogate(settings) }),
});
