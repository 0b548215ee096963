/** The loss of supervised fine-tuning, as a function of log-probs. */
import { expectLength } from '@saccade/core';
import type { AlgorithmResult, FloatArray, GlobalCounts } from './algorithm.ts';

/** The inputs of supervised fine-tuning. */
export interface DemonstrationBatch<Floats extends FloatArray = FloatArray> {
  /** [N] nats, current policy, of the demonstrated tokens. */
  readonly logprobs: Floats;
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
export function negativeLogLikelihood<Floats extends FloatArray>(
  batch: DemonstrationBatch<Floats>,
  counts: Pick<GlobalCounts, 'tokens'>,
): AlgorithmResult<Floats> {
  const { logprobs, lossMask } = batch;
  expectLength('lossMask', lossMask.length, logprobs.length);
  const gradLogprobs = logprobs.slice().fill(0) as Floats;
  let sum = 0;
  for (let t = 0; t < logprobs.length; t++) {
    const mask = lossMask[t] as number;
    if (mask === 0) continue;
    sum -= mask * (logprobs[t] as number);
    gradLogprobs[t] = -mask / counts.tokens;
  }
  return { loss: sum / counts.tokens, gradLogprobs, metrics: { nll: sum } };
}
