/** The loss of supervised fine-tuning, as a function of log-probs. */
import { expectLength } from '@saccade/core';
import type { AlgorithmResult, FloatArray, GlobalCounts } from './algorithm.ts';

/** What supervised fine-tuning needs of a batch. */
export interface DemonstrationBatch {
  /** [N] nats, current policy, of the demonstrated tokens. */
  readonly logprobs: FloatArray;
  /** [N] 1 where a token trains, 0 where it does not. */
  readonly lossMask: FloatArray;
}

/**
 * Cross-entropy of the policy at the demonstrated tokens, mean over the tokens of the step.
 *
 *   L = −Σₜ maskₜ · logprobₜ / counts.tokens
 *
 * @throws ShapeError if the lengths differ
 */
export function negativeLogLikelihood(
  batch: DemonstrationBatch,
  counts: Pick<GlobalCounts, 'tokens'>,
): AlgorithmResult {
  const { logprobs, lossMask } = batch;
  expectLength('lossMask', lossMask.length, logprobs.length);
  const gradLogprobs = new Float32Array(logprobs.length);
  let sum = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const mask = lossMask[t] as number;
    if (mask === 0) continue;
    sum -= mask * (logprobs[t] as number);
    gradLogprobs[t] = -mask / counts.tokens;
  }
  return { loss: sum / counts.tokens, gradLogprobs, metrics: { nll: sum } };
}
