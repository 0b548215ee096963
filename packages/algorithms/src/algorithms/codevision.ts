/** The objective of CodeVision. */
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { groupRelative, groupRelativeSettings } from '../group-relative.ts';
import { verlGroup } from '../profiles.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * CodeVision trains with verl's GRPO with clipHigh above clipLow, a dual clip of 10 and a small KL
 * term; the numbers are those of its training script. The paper names GRPO without a formula.
 */
export const codevision: Algorithm = composeAlgorithm({
  name: 'codevision',
  paper: 'arXiv:2512.03746',
  description: 'GRPO over tokens, with more room above, a wide dual clip and a little KL.',
  settings: { ...groupRelativeSettings, ...clipped.settings },
  defaults: { clipHigh: 0.28, dualClip: 10, klCoefficient: 1e-3 },
  profiles: {
    verl: { ...verlGroup, dualClip: 10 },
  },
  choose: (settings) => ({ ...groupRelative(settings), surrogate: clipped(settings) }),
});
