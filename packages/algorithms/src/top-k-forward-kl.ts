/** Distillation on the teacher's most likely tokens: forward KL, log-probs in, gradients out. */
import { DataError, expectLength } from '@saccade/core';
import type { AlgorithmResult, FloatArray, GlobalCounts } from './algorithm.ts';
import { checkFinite } from './check-inputs.ts';

/** Log-probs of the teacher's K most likely tokens at N positions, row-major as [N, K]. */
export interface TopKBatch<Floats extends FloatArray = FloatArray> {
  /** [N·K] nats, current policy. */
  readonly logprobs: Floats;
  /** [N·K] nats, teacher, of the same tokens; constant. */
  readonly teacherLogprobs: FloatArray;
  /** [N] 1 where a position trains, 0 where it does not. */
  readonly lossMask: FloatArray;
  /** K: tokens per position. */
  readonly tokensPerPosition: number;
}

/**
 * Forward KL from the teacher to the policy over the teacher's K most likely tokens, mean over
 * positions.
 *
 *   L = Σₜ maskₜ · Σ_k p_tk·(ln p_tk − logprobs_tk) / counts.tokens,   p = exp(teacherLogprobs)
 *
 * Hinton et al. 2015, arXiv:1503.02531, at temperature 1; on the policy's own samples: GKD,
 * arXiv:2306.13649. The teacher's probability outside of the K tokens is left out: the sum is a
 * lower bound of a KL plus a constant, and may be negative where the policy is more confident than
 * the teacher.
 *
 * @throws ShapeError if lengths do not fit; DataError naming a log-prob that is not finite
 */
export function topKForwardKl<Floats extends FloatArray>(
  batch: TopKBatch<Floats>,
  counts: Pick<GlobalCounts, 'tokens'>,
): AlgorithmResult<Floats> {
  const { logprobs, teacherLogprobs, lossMask, tokensPerPosition: K } = batch;
  if (!(Number.isInteger(K) && K > 0)) {
    throw new DataError(`tokensPerPosition is ${K}. It must be a whole number above 0.`);
  }
  expectLength('logprobs', logprobs.length, lossMask.length * K);
  expectLength('teacherLogprobs', teacherLogprobs.length, lossMask.length * K);
  const gradLogprobs = logprobs.slice().fill(0) as Floats;
  let sum = 0;
  for (let t = 0; t < lossMask.length; t++) {
    if (lossMask[t] === 0) continue;
    for (let i = t * K; i < (t + 1) * K; i++) {
      checkToken('logprobs', logprobs, i);
      checkToken('teacherLogprobs', teacherLogprobs, i);
      const teacher = teacherLogprobs[i] as number;
      const probability = Math.exp(teacher);
      sum += probability * (teacher - (logprobs[i] as number));
      gradLogprobs[i] = -probability / counts.tokens;
    }
  }
  const loss = sum / counts.tokens;
  checkFinite('loss', [loss]);
  return { loss, gradLogprobs, metrics: { 'distillation/forward_kl': sum } };
}

function checkToken(name: string, values: FloatArray, index: number): void {
  if (Number.isFinite(values[index])) return;
  throw new DataError(`${name}[${index}] is ${values[index]}. A log-prob must be finite.`);
}
