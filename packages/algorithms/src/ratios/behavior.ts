/** The ratio to the engine that sampled, without a policy in between. */
import { ConfigError } from '@saccade/core';
import type { TokenBatch } from '../algorithm.ts';
import type { Ratio } from '../choices.ts';
import { maxLogRatio as maxLogRatioField } from '../fields.ts';
import { owning } from '../unit.ts';
import { sequenceRatioSum } from './sequence.ts';
import { tokenRatio } from './token.ts';

/**
 * Importance ratio of each token to the policy that sampled it.
 *
 *   ρₜ = exp(logprobsₜ − rolloutLogprobsₜ)
 *
 * Sutton & Barto, 2nd edition, §5.5: target over behavior policy; verl's `bypass_mode` at level
 * `token`. maxLogRatio bounds the logarithm.
 *
 * @throws ConfigError if the batch has no rolloutLogprobs
 */
export const behaviorRatio = owning(
  { maxLogRatio: maxLogRatioField },
  (options: { readonly maxLogRatio?: number } = {}): Ratio => toSampler(tokenRatio(options)),
);

/**
 * Importance ratio of each sequence to the policy that sampled it.
 *
 *   ρₜ = exp(Σ_u mask_u·(logprobs_u − rolloutLogprobs_u))
 *
 * Sutton & Barto, 2nd edition, §5.5; verl's `bypass_mode` at level `sequence`. maxLogRatio bounds
 * the logarithm from above.
 *
 * @throws ConfigError if the batch has no rolloutLogprobs
 */
export const behaviorSequenceRatio = owning(
  { maxLogRatio: maxLogRatioField },
  (options: { readonly maxLogRatio?: number } = {}): Ratio => toSampler(sequenceRatioSum(options)),
);

function toSampler(ratio: Ratio): Ratio {
  return {
    forward: (batch) => ratio.forward(sampled(batch)),
    backward: (batch, ratios, gradRatios) => ratio.backward(sampled(batch), ratios, gradRatios),
  };
}

function sampled(batch: TokenBatch): TokenBatch {
  if (batch.rolloutLogprobs === undefined) {
    throw new ConfigError(
      'rolloutLogprobs',
      'The ratio to the sampler needs rolloutLogprobs, and the batch has none. ' +
        'Pass those of the engine that sampled, or set ratio to "token".',
    );
  }
  return { ...batch, oldLogprobs: batch.rolloutLogprobs };
}
