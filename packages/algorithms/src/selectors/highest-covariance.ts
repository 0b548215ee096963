/** Marks the tokens of highest covariance. */
import type { Selector } from '../choices.ts';
import { mark } from '../marks.ts';
import { owning } from '../unit.ts';
import { covarianceOf, covarianceShare } from './covariance.ts';

/**
 * Marks the tokens whose covariance is highest; KL-Cov pulls them back.
 *
 *   penalized = the max(⌊covarianceShare·N⌋, 1) tokens of largest covₜ
 *
 * KL-Cov of "The Entropy Mechanism", arXiv:2505.22617; verl's `kl_cov`, which decides in each
 * micro-batch; here it is decided once over the whole minibatch, so that splitting it changes
 * nothing.
 */
export const highestCovariance = owning({ covarianceShare }, makeHighestCovariance);

function makeHighestCovariance(options: { readonly covarianceShare: number }): Selector {
  return (minibatch, marks) => {
    const { covariances, count } = covarianceOf(minibatch, 0);
    const order = [...covariances.keys()].filter((t) => minibatch.lossMask[t] !== 0);
    order.sort((a, b) => (covariances[b] as number) - (covariances[a] as number) || a - b);
    const penalized = Math.max(Math.floor(options.covarianceShare * count), 1);
    for (const t of order.slice(0, penalized)) marks[t] = (marks[t] as number) | mark.penalized;
  };
}
