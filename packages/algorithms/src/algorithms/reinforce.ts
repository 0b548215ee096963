/** REINFORCE with the group's mean as its baseline. */
import { groupMean } from '../advantages/group-mean.ts';
import type { Algorithm } from '../algorithm.ts';
import { composeAlgorithm } from '../compose.ts';
import { paperNumbers } from '../profiles.ts';
import { logProbability } from '../surrogates/log-probability.ts';

/**
 * ℓ = −A·logprob with A = R − mean(R) over the group. One update per step: there is neither a ratio
 * nor a clip. The profile `paper` sums over each sequence's tokens, then takes the mean.
 */
export const reinforce: Algorithm = composeAlgorithm({
  name: 'reinforce',
  paper: 'Williams 1992, Machine Learning 8:229-256',
  description:
    'Policy gradient with the group mean as baseline; one update per batch, no clipping.',
  settings: {},
  profiles: { paper: { ...paperNumbers, aggregation: 'sequence-mean-token-sum' } },
  choose: () => ({ groupAdvantage: groupMean(), surrogate: logProbability() }),
});
