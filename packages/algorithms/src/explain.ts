/** Explains what a step does with every token, and why. */
import { ConfigError, expectLength } from '@saccade/core';
import type { Algorithm, FloatArray, Step, TokenBatch } from './algorithm.ts';
import { type Clip, cause, clipNames, type MaskCause, maskCauses } from './marks.ts';
import { prepareStep, selectTokens } from './pipeline.ts';
import { forEachSequence } from './sequences.ts';

/** The current policy's outputs at a step's tokens. */
export interface CurrentPolicy {
  /** [N] nats. */
  readonly logprobs: FloatArray;
  /** [N] nats; only if the algorithm needs it. */
  readonly entropy?: FloatArray;
  /** [N] only if the algorithm has a value function. */
  readonly values?: FloatArray;
}

/** The explanation of a step, one entry per token in each array. */
export interface StepExplanation {
  /** [N] index of each token's sequence. */
  readonly sequences: Int32Array;
  /** [N] as the loss uses them. */
  readonly advantages: Float64Array;
  /** [N] importance ratio ρ, after the clamps of the ratio; NaN where a token does not train. */
  readonly ratios: Float64Array;
  /** [N] indices into `clipNames`: which bound held the token back. */
  readonly clips: Uint8Array;
  /** [N] constant factor of the token's surrogate loss: aggregation × correction × selection. */
  readonly weights: Float64Array;
  /** [N] indices into `maskCauses`: why it has no surrogate loss. */
  readonly causes: Uint8Array;
  /** [N] ∂loss/∂logprobs, the sum of all terms. */
  readonly gradLogprobs: Float64Array;
}

/** One token of a `StepExplanation`, with codes as words; the fields are those of the arrays. */
export interface TokenRow {
  /** Flat index of the token in the step. */
  readonly token: number;
  readonly sequence: number;
  readonly advantage: number;
  readonly ratio: number;
  readonly clip: Clip;
  readonly weight: number;
  readonly cause: MaskCause;
  readonly gradLogprob: number;
}

/**
 * Runs all stages over a whole step and returns every token's advantage, ratio, clip, weight and
 * gradient, and the cause if it has no surrogate loss.
 *
 * @param step  contains the groups' advantages
 * @throws ConfigError naming an input the algorithm needs
 */
export function explainStep(
  algorithm: Algorithm,
  step: Step,
  current: CurrentPolicy,
): StepExplanation {
  const { oldLogprobs, lossMask, sequenceOffsets } = step;
  if (oldLogprobs === undefined) {
    throw new ConfigError(
      'oldLogprobs',
      'Explaining a step needs oldLogprobs, and the step has none. Score it with the trainer.',
    );
  }
  expectLength('logprobs', current.logprobs.length, lossMask.length);
  const prepared = prepareStep(algorithm, { ...step, oldLogprobs });
  const logprobs = Float64Array.from(current.logprobs);
  const minibatch: TokenBatch<Float64Array> = { ...prepared.batch, ...current, logprobs };
  const { batch, counts } = selectTokens(algorithm, minibatch, prepared.counts);
  const { ratios, clips, weights, causes } = algorithm.table(batch, counts);
  const sequences = new Int32Array(lossMask.length);
  forEachSequence(sequenceOffsets, (s, start, end) => {
    sequences.fill(s, start, end);
  });
  for (let t = 0; t < lossMask.length; t++) {
    if (causes[t] === cause.masked && lossMask[t] !== 0) causes[t] = cause.rejected;
    if (batch.lossMask[t] === 0) ratios[t] = Number.NaN;
  }
  return {
    sequences,
    advantages: Float64Array.from(batch.advantages),
    ratios,
    clips,
    weights,
    causes,
    gradLogprobs: algorithm.loss(batch, counts).gradLogprobs,
  };
}

/** One token of an explanation, with codes as words. */
export function explanationRow(explanation: StepExplanation, token: number): TokenRow {
  const at = (values: ArrayLike<number>): number => values[token] as number;
  return {
    token,
    sequence: at(explanation.sequences),
    advantage: at(explanation.advantages),
    ratio: at(explanation.ratios),
    clip: clipNames[at(explanation.clips)] ?? 'none',
    weight: at(explanation.weights),
    cause: maskCauses[at(explanation.causes)] ?? 'trained',
    gradLogprob: at(explanation.gradLogprobs),
  };
}
