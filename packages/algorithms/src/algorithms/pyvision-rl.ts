/** The objective of PyVision-RL. */
import { groupMean } from '../advantages/group-mean.ts';
import { tokenMean } from '../aggregations/token-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../loss.ts';
import { tokenRatio } from '../ratios/token.ts';
import { clipped } from '../surrogates/clipped.ts';

/**
 * PyVision-RL, eq. 2, trained with verl, whose loss always has a dual clip at 3: `dualClip: 0` is
 * the paper's text alone. Oversampling, filtering and ranking are a scheduler, the tool reward a
 * reward.
 */
export const pyvisionRl: Algorithm = composeAlgorithm({
  name: 'pyvision-rl',
  paper: 'arXiv:2602.20739',
  description: 'Rewards minus the group mean, no std, no KL, every token weighing the same.',
  settings: { clipLow: 0.2, clipHigh: 0.2, dualClip: 3, entropyCoefficient: 0 },
  choose: ({ clipLow, clipHigh, dualClip }) => ({
    advantage: groupMean(),
    ratio: tokenRatio(),
    surrogate: clipped({ clipLow, clipHigh, dualClip }),
    aggregation: tokenMean(),
  }),
});
