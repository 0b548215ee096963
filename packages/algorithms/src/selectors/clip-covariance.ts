/** Takes the gradient from a few tokens of high covariance. */
import { ConfigError, randomAt } from '@saccade/core';
import { count, quantity } from '@saccade/core/settings';
import type { Selector } from '../choices.ts';
import { clipRange, LARGEST } from '../fields.ts';
import { mark } from '../marks.ts';
import { owning } from '../unit.ts';
import { covarianceOf, covarianceShare as covarianceShareField } from './covariance.ts';

export interface ClipCovarianceOptions {
  /** Share of the tokens that are detached, at least one. */
  readonly covarianceShare: number;
  readonly covarianceLow: number;
  readonly covarianceHigh: number;
  readonly clipLow: number;
  readonly clipHigh: number;
  /** Seed of the draw among the candidates. */
  readonly covarianceSeed: number;
}

/**
 * Marks a random few of the tokens that are not clipped and whose covariance lies between two
 * bounds; they have no surrogate loss.
 *
 *   candidates = { t : covarianceLow < covₜ < covarianceHigh, PPO does not clip t }
 *   detached = max(⌊covarianceShare·N⌋, 1) of them
 *
 * Clip-Cov of "The Entropy Mechanism", arXiv:2505.22617; verl's `clip_cov`. verl draws in each
 * micro-batch anew; here it is decided once over the whole minibatch, so that splitting it changes
 * nothing. A token's place in the draw comes from the seed and its values, not from its position.
 */
export const clipCovariance = owning(
  {
    ...clipRange,
    covarianceShare: covarianceShareField,
    covarianceLow: quantity({
      min: -LARGEST,
      max: LARGEST,
      default: 1,
      unit: 'covariance',
      about: 'Lower bound of the covariance of candidates.',
    }),
    covarianceHigh: quantity({
      min: -LARGEST,
      max: LARGEST,
      default: 5,
      unit: 'covariance',
      about: 'Upper bound of the covariance of candidates.',
    }),
    covarianceSeed: count({
      min: 0,
      max: 2 ** 32 - 1,
      default: 0,
      unit: 'seed',
      about: 'Seed of the draw among the candidates.',
    }),
  },
  makeClipCovariance,
);

function makeClipCovariance(options: ClipCovarianceOptions): Selector {
  const { covarianceShare, covarianceLow, covarianceHigh, clipLow, clipHigh } = options;
  if (!(covarianceLow < covarianceHigh)) {
    throw new ConfigError(
      'covarianceLow',
      `covarianceLow must be below covarianceHigh (${covarianceHigh}), is ${covarianceLow}.`,
    );
  }
  return (minibatch, marks) => {
    const { covariances, count } = covarianceOf(minibatch, 1e-8);
    const { advantages, logprobs, oldLogprobs, lossMask } = minibatch;
    const candidates: number[] = [];
    const draws = new Float64Array(covariances.length);
    for (let t = 0; t < covariances.length; t++) {
      if (lossMask[t] === 0) continue;
      const covariance = covariances[t] as number;
      if (!(covariance > covarianceLow && covariance < covarianceHigh)) continue;
      const advantage = advantages[t] as number;
      const ratio = Math.exp((logprobs[t] as number) - (oldLogprobs[t] as number));
      if (advantage > 0 ? ratio > 1 + clipHigh : ratio < 1 - clipLow) continue;
      const key = `${logprobs[t]} ${oldLogprobs[t]} ${advantage}`;
      draws[t] = randomAt(options.covarianceSeed, key).uniform();
      candidates.push(t);
    }
    candidates.sort((a, b) => (draws[a] as number) - (draws[b] as number) || a - b);
    const detached = Math.max(Math.floor(covarianceShare * count), 1);
    for (const t of candidates.slice(0, detached)) marks[t] = (marks[t] as number) | mark.detached;
  };
}
