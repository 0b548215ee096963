/** The covariance that drives entropy down, of every token of a minibatch. */
import { quantity } from '@saccade/core/settings';
import type { TokenBatch } from '../algorithm.ts';

export const covarianceShare = quantity({
  min: 0,
  max: 1,
  default: 2e-4,
  unit: 'fraction',
  about: 'Share of the tokens that are selected by covariance, at least one.',
});

/**
 * Each token's share of Cov(A, logprob), 0 where the mask is 0.
 *
 *   covₜ = (Aₜ − mean(A))·(logprobsₜ − mean(logprobs))
 *
 * @param epsilon added to the count of the means: verl has 1e-8
 * @returns [N], and how many tokens train
 */
export function covarianceOf(
  { advantages, logprobs, lossMask }: TokenBatch,
  epsilon: number,
): { covariances: Float64Array; count: number } {
  let [advantageSum, logprobSum, count] = [0, 0, 0];
  for (let t = 0; t < lossMask.length; t++) {
    if (lossMask[t] === 0) continue;
    advantageSum += advantages[t] as number;
    logprobSum += logprobs[t] as number;
    count++;
  }
  const divisor = Math.max(count + epsilon, Number.MIN_VALUE);
  const covariances = Float64Array.from(lossMask, (mask, t) =>
    mask === 0
      ? 0
      : ((advantages[t] as number) - advantageSum / divisor) *
        ((logprobs[t] as number) - logprobSum / divisor),
  );
  return { covariances, count };
}
