/** Decoupled clip and dynamic sampling policy optimisation: its loss. */
import { groupStd } from '../advantages/group-std.ts';
import { tokenMean } from '../aggregations/token-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../loss.ts';
import { tokenRatio } from '../ratios/token.ts';
import { clipped } from '../surrogates/clipped.ts';

/** DAPO, eq. 8 and 10. Its sampling of mixed groups is a scheduler, its length penalty a reward. */
export const dapo: Algorithm = composeAlgorithm({
  name: 'dapo',
  paper: 'arXiv:2503.14476',
  description: 'GRPO without KL, with more room above than below, every token weighing the same.',
  settings: { clipLow: 0.2, clipHigh: 0.28, entropyCoefficient: 0 },
  choose: ({ clipLow, clipHigh }) => ({
    advantage: groupStd(),
    ratio: tokenRatio(),
    surrogate: clipped({ clipLow, clipHigh }),
    aggregation: tokenMean(),
  }),
});
