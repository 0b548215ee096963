/** Clipped importance sampling policy optimization. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { paperGroup, trlGroup, verlNumbers } from '../profiles.ts';
import { cispoSurrogate } from '../surrogates/cispo.ts';

/**
 * CISPO clips the weight, not the loss: every token keeps a gradient. The paper in effect has no
 * lower bound and does not print the upper one; verl clips within 1 ± 0.2, TRL at an absolute bound
 * whose documented value is 5.
 */
export const cispo: Algorithm = composeAlgorithm({
  name: 'cispo',
  paper: 'arXiv:2506.13585',
  description: 'Policy gradient weighted with clipped ratios that are constants.',
  settings: { ...groupRelativeSettings, ...cispoSurrogate.settings },
  profiles: {
    paper: { ...paperGroup, clipLow: 1 },
    verl: { ...verlNumbers, stdEpsilon: 1e-6 },
    trl: { ...trlGroup, clipBounds: 'absolute', clipHigh: 5 },
  },
  choose: (settings) => ({
    ...groupRelative(settings),
    isRatioConstant: true,
    surrogate: cispoSurrogate(settings),
  }),
});
