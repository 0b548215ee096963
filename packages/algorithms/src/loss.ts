/** Computes loss, gradients and metrics of a micro-batch from an algorithm's units. */
import type {
  AlgorithmResult,
  FloatArray,
  GlobalCounts,
  TokenBatch,
  TokenTable,
} from './algorithm.ts';
import { checkBatch, checkResult } from './check-inputs.ts';
import type {
  Aggregation,
  KlEstimate,
  Ratio,
  Surrogate,
  SurrogateValues,
  ValueTerm,
} from './choices.ts';
import { cause, mark } from './marks.ts';
import { sumMetrics } from './metrics.ts';
import { product } from './product.ts';
import { clippedValueLoss, type ValueLoss } from './value-loss.ts';

/** The units and coefficients of a loss. */
export interface LossParts {
  readonly ratio: Ratio;
  readonly surrogate: Surrogate;
  readonly aggregation: Aggregation;
  readonly kl: KlEstimate;
  /** β; 0 for no KL in the loss. */
  readonly klCoefficient: number;
  readonly klImportance: boolean;
  readonly entropyCoefficient: number;
  /** Absent if KL has the surrogate's aggregation. */
  readonly klAggregation?: Aggregation;
  /** Absent if entropy has the surrogate's aggregation. */
  readonly entropyAggregation?: Aggregation;
  readonly value?: ValueTerm;
  /** Inputs the batch must have, and the reason for each. */
  readonly needed: readonly (readonly [keyof TokenBatch, string])[];
}

/** Marks of tokens without surrogate loss. */
const UNTRAINED = mark.lowEntropy | mark.detached | mark.offPolicy;

/** The parts that do not depend on the KL, entropy and value terms. */
interface Evaluated {
  /** [N] from the aggregation. */
  readonly shares: Float64Array;
  /** [N] constant factor of the surrogate loss: correction × selection. */
  readonly factors: Float64Array;
  readonly ratios: Float64Array;
  readonly surrogate: SurrogateValues;
  readonly clips: Uint8Array;
}

/**
 * Loss of a micro-batch and its gradients.
 *
 *   loss = Σₜ shareₜ·(factorₜ·ℓ(ρₜ, Aₜ) + c_v·ℓ_vₜ) + β·Σₜ share′ₜ·klₜ − c_H·Σₜ share″ₜ·entropyₜ
 *
 * with shares from the aggregations and the counts of the whole minibatch.
 *
 * @throws DataError naming the token, if a log-prob or another input is not finite, or if the loss or a
 *   gradient overflows at one
 */
export function lossOf<Floats extends FloatArray>(
  parts: LossParts,
  batch: TokenBatch<Floats>,
  counts: GlobalCounts,
): AlgorithmResult<Floats> {
  checkBatch(batch, counts, parts.needed);
  const { logprobs, refLogprobs, entropy, marks, lossMask, sequenceOffsets } = batch;
  const evaluated = evaluate(parts, batch, counts);
  const { shares, factors, ratios, surrogate, clips } = evaluated;
  const klShares = parts.klAggregation?.(lossMask, sequenceOffsets, counts) ?? shares;
  // Tokens left out by their entropy are not in the mean of entropies either.
  const entropyCounts = { ...counts, tokens: counts.selectedTokens ?? counts.tokens };
  const entropyShares =
    parts.entropyAggregation?.(lossMask, sequenceOffsets, entropyCounts) ?? shares;
  const N = ratios.length;
  const [gradRatios, direct] = [new Float64Array(N), new Float64Array(N)];
  const gradEntropy = new Float64Array(parts.entropyCoefficient === 0 ? 0 : N);
  const gradValues = new Float64Array(parts.value ? N : 0);
  const values = parts.value && clippedValueLoss(batch, parts.value.clip);
  let loss = 0;
  let klSum: number | undefined;
  for (let t = 0; t < N; t++) {
    const share = shares[t] as number;
    // Masked tokens must not be read: they may hold anything, even NaN.
    if (share === 0) continue;
    const weight = share * (factors[t] as number);
    if (weight !== 0) {
      loss += product(weight, surrogate.losses[t] as number);
      gradRatios[t] = product(weight, surrogate.gradRatios[t] as number);
      direct[t] = product(weight, surrogate.gradLogprobs?.[t] ?? 0);
    }
    if (parts.klCoefficient !== 0 && refLogprobs) {
      const { value, grad } = parts.kl(logprobs[t] as number, refLogprobs[t] as number);
      const pull = (klShares[t] as number) * parts.klCoefficient;
      const ratio = parts.klImportance ? (ratios[t] as number) : 1;
      loss += product(product(pull, ratio), value);
      direct[t] = (direct[t] as number) + product(product(pull, ratio), grad);
      if (parts.klImportance) gradRatios[t] = (gradRatios[t] as number) + pull * value;
      klSum = (klSum ?? 0) + product(ratio, value);
    }
    if (parts.entropyCoefficient !== 0 && entropy && !isLowEntropy(marks, t)) {
      const own = (entropyShares[t] as number) * parts.entropyCoefficient;
      loss -= own * (entropy[t] as number);
      gradEntropy[t] = -own;
    }
    if (parts.value && values) {
      const own = share * parts.value.coefficient;
      loss += own * (values.losses[t] as number);
      gradValues[t] = own * (values.grads[t] as number);
    }
  }
  const throughRatios = parts.ratio.backward(batch, ratios, gradRatios);
  for (let t = 0; t < N; t++) {
    direct[t] = shares[t] === 0 ? 0 : (direct[t] as number) + (throughRatios[t] as number);
  }
  const gradLogprobs = inPrecisionOf(logprobs, direct);
  checkResult(batch, { loss, gradLogprobs, gradValues });
  return {
    loss,
    gradLogprobs,
    ...(parts.entropyCoefficient !== 0 && { gradEntropy: inPrecisionOf(logprobs, gradEntropy) }),
    ...(parts.value && { gradValues: inPrecisionOf(logprobs, gradValues) }),
    metrics: {
      ...sumMetrics(batch, { ratios, clips, factors }, klSum),
      ...(values && valueMetrics(batch, values)),
    },
  };
}

/** Explains what `lossOf` does with each token. */
export function tableOf(parts: LossParts, batch: TokenBatch, counts: GlobalCounts): TokenTable {
  checkBatch(batch, counts, parts.needed);
  const { shares, factors, ratios, clips } = evaluate(parts, batch, counts);
  const causes = Uint8Array.from(batch.lossMask, (mask, t) => {
    const marks = batch.marks?.[t] ?? 0;
    if (mask === 0) return cause.masked;
    if (marks & mark.lowEntropy) return cause.lowEntropy;
    if (marks & mark.detached) return cause.detached;
    if (marks & mark.offPolicy) return cause.offPolicy;
    if (factors[t] === 0) return cause.weightless;
    return batch.advantages[t] === 0 ? cause.indifferent : cause.trained;
  });
  const weights = shares.map((share, t) => (share === 0 ? 0 : share * (factors[t] as number)));
  return { ratios, clips, weights, causes };
}

function evaluate(parts: LossParts, batch: TokenBatch, counts: GlobalCounts): Evaluated {
  const { logprobs, oldLogprobs, advantages, lossMask, marks, tokenWeights } = batch;
  const shares = parts.aggregation(lossMask, batch.sequenceOffsets, counts);
  const ratios = parts.ratio.forward(batch);
  const surrogate = parts.surrogate({
    ratios,
    advantages,
    logprobs,
    oldLogprobs,
    ...(marks && { marks }),
  });
  const factors = parts.ratio.weights?.(batch) ?? new Float64Array(ratios.length);
  for (let t = 0; t < factors.length; t++) {
    const bits = marks?.[t] ?? 0;
    if (lossMask[t] === 0 || bits & UNTRAINED) factors[t] = 0;
    else if (!parts.ratio.weights) factors[t] = tokenWeights?.[t] ?? 1;
  }
  const clips = parts.ratio.clips?.(batch) ?? surrogate.clips;
  return { shares, factors, ratios, surrogate, clips };
}

function isLowEntropy(marks: Uint8Array | undefined, t: number): boolean {
  return ((marks?.[t] ?? 0) & mark.lowEntropy) !== 0;
}

function valueMetrics(
  { lossMask }: TokenBatch,
  { losses, isClipped }: ValueLoss,
): Record<string, number> {
  let [loss, clipped] = [0, 0];
  lossMask.forEach((mask, t) => {
    if (mask === 0) return;
    loss += losses[t] as number;
    clipped += isClipped[t] as number;
  });
  return { 'value/loss': loss, 'value/clip_ratio': clipped };
}

/** The values in the precision of the log-probs. */
function inPrecisionOf<Floats extends FloatArray>(like: Floats, values: Float64Array): Floats {
  return (like instanceof Float64Array ? values : Float32Array.from(values)) as Floats;
}
