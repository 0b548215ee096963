/** Joins five choices and their numbers into an algorithm. */
import { ConfigError, expectLength, ShapeError } from '@saccade/core';
import type {
  Algorithm,
  AlgorithmResult,
  AlgorithmSettings,
  GlobalCounts,
  TokenBatch,
} from './algorithm.ts';
import type { Advantage, Aggregation, KlEstimate, Ratio, Surrogate } from './choices.ts';
import { sumMetrics } from './metrics.ts';

/** The five choices. */
export interface Choices {
  readonly advantage: Advantage;
  readonly ratio: Ratio;
  readonly surrogate: Surrogate;
  readonly aggregation: Aggregation;
  /** Pulls towards the reference policy; left out where klCoefficient is 0. */
  readonly kl?: KlEstimate;
}

export interface Composition<Settings extends AlgorithmSettings> {
  readonly name: string;
  readonly paper: string;
  readonly description: string;
  /**
   * Its numbers and their defaults. Two names mean the same everywhere: `klCoefficient` (β) weighs
   * the KL term, `entropyCoefficient` weighs the entropy bonus; both default to 0.
   */
  readonly settings: Settings;
  choose(settings: Settings): Choices;
}

/**
 * An algorithm from its composition.
 *
 *   loss = Σₜ weightₜ · (ℓ(ρₜ, Aₜ) + klCoefficient · klₜ − entropyCoefficient · entropyₜ)
 *
 * where the weights come from the aggregation and the counts of the whole step.
 */
export function composeAlgorithm<Settings extends AlgorithmSettings>(
  composition: Composition<Settings>,
): Algorithm {
  const { name, paper, description, settings } = composition;
  const choices = composition.choose(settings);
  const { klCoefficient = 0, entropyCoefficient = 0 }: AlgorithmSettings = settings;
  return Object.freeze({
    name,
    paper,
    description,
    settings,
    with: (changes: AlgorithmSettings) => {
      checkChanges(name, settings, changes);
      return composeAlgorithm({ ...composition, settings: { ...settings, ...changes } });
    },
    advantages: choices.advantage,
    loss: (batch: TokenBatch, counts: GlobalCounts) =>
      lossOf(batch, counts, choices, klCoefficient, entropyCoefficient),
  });
}

function lossOf(
  batch: TokenBatch,
  counts: GlobalCounts,
  choices: Choices,
  klCoefficient: number,
  entropyCoefficient: number,
): AlgorithmResult {
  checkBatch(batch, klCoefficient, entropyCoefficient);
  const { logprobs, lossMask, sequenceOffsets, entropy, refLogprobs } = batch;
  const weights = choices.aggregation(lossMask, sequenceOffsets, counts);
  const ratios = choices.ratio.forward(batch);
  const surrogate = choices.surrogate({ ratios, advantages: batch.advantages, logprobs });
  const gradRatios = new Float64Array(ratios.length);
  const direct = new Float64Array(ratios.length);
  let loss = 0;
  let klSum: number | undefined;
  for (let t = 0; t < ratios.length; t++) {
    const weight = weights[t] as number;
    // What does not train must not be read either: it may be anything, NaN included.
    if (weight === 0) continue;
    loss += weight * (surrogate.losses[t] as number);
    gradRatios[t] = weight * (surrogate.gradRatios[t] as number);
    direct[t] = weight * (surrogate.gradLogprobs?.[t] ?? 0);
    if (choices.kl && refLogprobs && klCoefficient !== 0) {
      const kl = choices.kl(logprobs[t] as number, refLogprobs[t] as number);
      loss += weight * klCoefficient * kl.value;
      direct[t] = (direct[t] as number) + weight * klCoefficient * kl.grad;
      klSum = (klSum ?? 0) + kl.value;
    }
    if (entropy && entropyCoefficient !== 0) {
      loss -= weight * entropyCoefficient * (entropy[t] as number);
    }
  }
  const throughRatios = choices.ratio.backward(batch, ratios, gradRatios);
  return {
    loss,
    gradLogprobs: Float32Array.from(direct, (grad, t) =>
      weights[t] === 0 ? 0 : grad + (throughRatios[t] as number),
    ),
    ...(entropyCoefficient !== 0 && {
      gradEntropy: Float32Array.from(weights, (weight) => -weight * entropyCoefficient),
    }),
    metrics: sumMetrics(batch, ratios, surrogate.clips, klSum),
  };
}

function checkBatch(batch: TokenBatch, klCoefficient: number, entropyCoefficient: number): void {
  const { logprobs, oldLogprobs, advantages, lossMask, refLogprobs, entropy } = batch;
  const [N, offsets] = [logprobs.length, batch.sequenceOffsets];
  for (const [name, values] of Object.entries({
    oldLogprobs,
    advantages,
    lossMask,
    ...(refLogprobs && { refLogprobs }),
    ...(entropy && { entropy }),
  })) {
    expectLength(name, values.length, N);
  }
  if (offsets[0] !== 0 || offsets.at(-1) !== N) {
    throw new ShapeError(
      `sequenceOffsets must run from 0 to ${N}, it runs from ${offsets[0]} to ${offsets.at(-1)}.`,
    );
  }
  if (klCoefficient !== 0 && !refLogprobs) {
    throw new ConfigError(
      'klCoefficient',
      `klCoefficient is ${klCoefficient}, but the batch has no refLogprobs. ` +
        'Score it with the reference policy, or set klCoefficient to 0.',
    );
  }
  if (entropyCoefficient !== 0 && !entropy) {
    throw new ConfigError(
      'entropyCoefficient',
      `entropyCoefficient is ${entropyCoefficient}, but the batch has no entropy. ` +
        'Pass the entropies the policy gives, or set entropyCoefficient to 0.',
    );
  }
}

function checkChanges(name: string, settings: AlgorithmSettings, changes: AlgorithmSettings): void {
  for (const [setting, value] of Object.entries(changes)) {
    if (!(setting in settings)) {
      throw new ConfigError(
        `algorithm.${setting}`,
        `${name} has no setting "${setting}". Known: ${Object.keys(settings).sort().join(', ')}.`,
      );
    }
    if (!Number.isFinite(value)) {
      throw new ConfigError(
        `algorithm.${setting}`,
        `${setting} must be a finite number, is ${value}.`,
      );
    }
  }
}
