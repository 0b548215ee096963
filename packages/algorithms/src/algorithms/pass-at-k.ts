/** GRPO for the best of k instead of the mean. */
import { bestOfGroup } from '../advantages/best-of-group.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { clipSettings } from '../group-relative.ts';
import { paperGroup, verlGroup } from '../profiles.ts';
import { sharedSettings } from '../settings.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * Only a group's best trajectory learns, by its lead over the second. verl's `grpo_passk`.
 */
export const passAtK: Algorithm = composeAlgorithm({
  name: 'pass-at-k',
  paper: 'arXiv:2503.19595',
  description: 'Only the best trajectory of a group learns.',
  settings: {
    ...sharedSettings,
    ...clipSettings,
    scale: 'group',
    stdEpsilon: 1e-6,
    stdDof: 1,
  },
  profiles: {
    paper: { ...paperGroup, scale: 'none' },
    verl: verlGroup,
  },
  choose: (settings) => ({
    groupAdvantage: bestOfGroup({
      epsilon: settings.stdEpsilon,
      ddof: settings.stdDof,
      isScaled: settings.scale !== 'none',
    }),
    surrogate: clipped(settings),
  }),
});
