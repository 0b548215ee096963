/** Corrects a step for the difference between the sampling engine and the trainer. */
import { ConfigError } from '@saccade/core';
import type { Correction, Step } from './algorithm.ts';
import { checkTokens } from './check-inputs.ts';
import {
  type ImportanceWeightOptions,
  importanceWeights,
} from './corrections/importance-weights.ts';
import { type RejectionOptions, rejectionMask } from './corrections/rejection.ts';

/** The parts of a correction. With neither, it changes nothing. */
export interface CorrectionOptions {
  /** Importance weights. Absent: all weights are 1. */
  readonly weights?: ImportanceWeightOptions;
  /** Criteria that a token must all meet. Absent: nothing is rejected. */
  readonly rejection?: RejectionOptions | readonly RejectionOptions[];
}

/**
 * Makes a function that computes the token weights and the mask of a step, constant for its
 * updates.
 *
 * Metrics, over the tokens that trained before rejection. The first five have TRL's names:
 * - `sampling/sampling_logp_difference/mean`, `/max`: |oldLogprobs − rolloutLogprobs|
 * - `sampling/importance_sampling_ratio/mean`, `/min`, `/max`: the final weights
 * - `sampling/ess`: (Σw)² / (n·Σw²), effective share of the sample
 * - `sampling/rejected`: share of the tokens rejected
 *
 * @throws ConfigError if the step has no oldLogprobs or rolloutLogprobs; DataError naming one that is
 *   not finite
 */
export function correctionOf(options: CorrectionOptions): (step: Step) => Correction {
  return (step) => {
    const differences = differencesOf(step);
    const tokenWeights = options.weights
      ? importanceWeights(step, differences, options.weights)
      : Float64Array.from(step.lossMask, (mask) => (mask === 0 ? 0 : 1));
    const lossMask = Float64Array.from(step.lossMask);
    for (const criterion of [options.rejection ?? []].flat()) {
      rejectionMask(step, differences, criterion).forEach((mask, t) => {
        if (mask === 0) lossMask[t] = 0;
      });
    }
    return {
      tokenWeights,
      lossMask,
      metrics: metricsOf(step, differences, tokenWeights, lossMask),
    };
  };
}

/** [N] oldLogprobs − rolloutLogprobs; 0 where the mask is 0. */
function differencesOf({ oldLogprobs, rolloutLogprobs, lossMask }: Step): Float64Array {
  for (const [name, values] of Object.entries({ oldLogprobs, rolloutLogprobs })) {
    if (values === undefined) {
      throw new ConfigError(
        name,
        `The correction needs ${name}, and the step has none. ` +
          'Keep the log-probs of the engine that sampled and score the step with the trainer, ' +
          'or set correction and rejection to "none".',
      );
    }
    checkTokens({ [name]: values }, lossMask);
  }
  return Float64Array.from(lossMask, (mask, t) => {
    if (mask === 0) return 0;
    return (oldLogprobs?.[t] as number) - (rolloutLogprobs?.[t] as number);
  });
}

function metricsOf(
  step: Step,
  differences: Float64Array,
  weights: Float64Array,
  kept: Float64Array,
): Record<string, number> {
  let [count, distance, furthest, sum, squares, rejected] = [0, 0, 0, 0, 0, 0];
  let [smallest, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let t = 0; t < weights.length; t++) {
    if (step.lossMask[t] === 0) continue;
    const weight = weights[t] as number;
    const size = Math.abs(differences[t] as number);
    count++;
    distance += size;
    furthest = Math.max(furthest, size);
    sum += weight;
    squares += weight * weight;
    smallest = Math.min(smallest, weight);
    largest = Math.max(largest, weight);
    if (kept[t] === 0) rejected++;
  }
  if (count === 0) return {};
  return {
    'sampling/sampling_logp_difference/mean': distance / count,
    'sampling/sampling_logp_difference/max': furthest,
    'sampling/importance_sampling_ratio/mean': sum / count,
    'sampling/importance_sampling_ratio/min': smallest,
    'sampling/importance_sampling_ratio/max': largest,
    'sampling/ess': squares === 0 ? 0 : (sum * sum) / (count * squares),
    'sampling/rejected': rejected / count,
  };
}
