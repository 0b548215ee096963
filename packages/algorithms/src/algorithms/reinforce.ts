/** REINFORCE with the group's mean as its baseline. */
import { groupMean } from '../advantages/group-mean.ts';
import { tokenMean } from '../aggregations/token-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../loss.ts';
import { tokenRatio } from '../ratios/token.ts';
import { logProbability } from '../surrogates/log-probability.ts';

export const reinforce: Algorithm = composeAlgorithm({
  name: 'reinforce',
  paper: 'Williams 1992, Machine Learning 8:229-256',
  description:
    'Policy gradient with the group mean as baseline; one update per batch, no clipping.',
  settings: { entropyCoefficient: 0 },
  choose: () => ({
    advantage: groupMean(),
    ratio: tokenRatio(),
    surrogate: logProbability(),
    aggregation: tokenMean(),
  }),
});
