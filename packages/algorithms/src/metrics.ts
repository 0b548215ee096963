/**
 * Metrics of a step besides its loss. Each name is defined here once, over the tokens that train:
 *
 * - `clip_ratio/low_mean`: share of tokens held back by the lower bound of the ratio
 * - `clip_ratio/high_mean`: share held back by the upper bound
 * - `clip_ratio/dual_mean`: share held back by the dual clip
 * - `clip_ratio/region_mean`: share held back by any of the three, or by a trust region
 * - `clip_ratio/low_min`, `clip_ratio/high_max`: least and greatest share in a sequence
 * - `approx_kl/k1`, `approx_kl/k3`: mean estimates of KL(old ‖ current); the tokens were sampled by
 *   the old policy, so d = logprobs − oldLogprobs, k1 = −d, k3 = exp(d) − d − 1
 * - `ratio/mean`, `ratio/min`, `ratio/max`: importance ratios
 * - `ratio/p05`, `ratio/p50`, `ratio/p95`: their quantiles, to half a percent
 * - `ratio/ess`: effective share of the sample, (Σw)² / (n·Σw²) with w = ratio × correction weight
 * - `entropy`: mean entropy, nats, where the batch has it
 * - `kl`: mean estimate of KL(current ‖ reference) as the loss takes it, where it has a KL term
 * - `value/loss`, `value/clip_ratio`: mean value loss, share of values that were clipped
 *
 * `clip_ratio/*` (all but dual), `entropy` and `kl` are TRL's names. Where the ratio is one per
 * sequence TRL counts sequences, we count its tokens. Metrics of the correction are defined in
 * correction.ts.
 */
import type { GlobalCounts, TokenBatch } from './algorithm.ts';
import { clip } from './marks.ts';
import { product } from './product.ts';
import { forEachSequence } from './sequences.ts';

/** Ratios are counted in bins of this width in log space: their quantiles then add up. */
const BIN = 0.01;
/** On each side of 1: ratios beyond e^±30 are counted as that. */
const BINS = 3000;
const BIN_PREFIX = 'ratio/bin/';
const WEIGHT_SUM = 'ratio/weights';
const WEIGHT_SQUARES = 'ratio/weights_squared';
const QUANTILES = { 'ratio/p05': 0.05, 'ratio/p50': 0.5, 'ratio/p95': 0.95 };

interface Evaluation {
  readonly ratios: Float64Array;
  readonly clips: Uint8Array;
  /** [N] constant factors of the surrogate loss. */
  readonly factors: Float64Array;
}

/** Sums over one micro-batch, and the extremes, under the names above. */
export function sumMetrics(
  batch: TokenBatch,
  { ratios, clips, factors }: Evaluation,
  klSum?: number,
): Record<string, number> {
  const clipped = new Float64Array(Object.keys(clip).length);
  const bins = new Int32Array(2 * BINS + 1);
  let [k1Sum, k3Sum, ratioSum, entropySum, weightSum, weightSquares] = [0, 0, 0, 0, 0, 0];
  let [smallest, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let t = 0; t < ratios.length; t++) {
    if (batch.lossMask[t] === 0) continue;
    const ratio = ratios[t] as number;
    const logprob = batch.logprobs[t] as number;
    const oldLogprob = batch.oldLogprobs[t] as number;
    const code = clips[t] as number;
    clipped[code] = (clipped[code] as number) + 1;
    const difference = logprob - oldLogprob;
    k1Sum -= difference;
    k3Sum += Math.expm1(difference) - difference;
    ratioSum += ratio;
    smallest = Math.min(smallest, ratio);
    largest = Math.max(largest, ratio);
    entropySum += batch.entropy?.[t] ?? 0;
    const weight = product(ratio, factors[t] as number);
    weightSum += weight;
    weightSquares += weight * weight;
    const bin = Math.max(-BINS, Math.min(BINS, Math.round(Math.log(ratio) / BIN)));
    bins[bin + BINS] = (bins[bin + BINS] as number) + 1;
  }
  const [, low = 0, high = 0, dual = 0, region = 0] = clipped;
  return {
    'clip_ratio/low_mean': low,
    'clip_ratio/high_mean': high,
    'clip_ratio/dual_mean': dual,
    'clip_ratio/region_mean': low + high + dual + region,
    ...clipExtremes(batch, clips),
    'approx_kl/k1': k1Sum,
    'approx_kl/k3': k3Sum,
    'ratio/mean': ratioSum,
    'ratio/min': smallest,
    'ratio/max': largest,
    [WEIGHT_SUM]: weightSum,
    [WEIGHT_SQUARES]: weightSquares,
    ...(batch.entropy && { entropy: entropySum }),
    ...(klSum !== undefined && { kl: klSum }),
    ...filledBins(bins),
  };
}

/** The bins that hold something, by name. */
function filledBins(bins: Int32Array): Record<string, number> {
  const filled: Record<string, number> = {};
  bins.forEach((count, place) => {
    if (count > 0) filled[`${BIN_PREFIX}${place - BINS}`] = count;
  });
  return filled;
}

/** Least share of tokens clipped low, greatest share clipped high, of any sequence. */
function clipExtremes(
  { lossMask, sequenceOffsets }: TokenBatch,
  clips: Uint8Array,
): Record<string, number> {
  let [lowMin, highMax] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  forEachSequence(sequenceOffsets, (_, start, end) => {
    let [count, low, high] = [0, 0, 0];
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      count++;
      if (clips[t] === clip.low) low++;
      if (clips[t] === clip.high) high++;
    }
    if (count === 0) return;
    lowMin = Math.min(lowMin, low / count);
    highMax = Math.max(highMax, high / count);
  });
  return { 'clip_ratio/low_min': lowMin, 'clip_ratio/high_max': highMax };
}

/**
 * The metrics of a step from those of its micro-batches: sums over the step's tokens, extremes over
 * all. A step without tokens has none.
 */
export function finishMetrics(
  parts: readonly Readonly<Record<string, number>>[],
  counts: GlobalCounts,
): Record<string, number> {
  if (counts.tokens === 0) return {};
  const totals: Record<string, number> = {};
  const bins = new Map<number, number>();
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      const total = totals[name];
      if (name.startsWith(BIN_PREFIX)) {
        const bin = Number(name.slice(BIN_PREFIX.length));
        bins.set(bin, (bins.get(bin) ?? 0) + value);
      } else if (total === undefined) totals[name] = value;
      else if (isMin(name)) totals[name] = Math.min(total, value);
      else if (isMax(name)) totals[name] = Math.max(total, value);
      else totals[name] = total + value;
    }
  }
  const { [WEIGHT_SUM]: sum, [WEIGHT_SQUARES]: squares, ...rest } = totals;
  for (const [name, total] of Object.entries(rest)) {
    if (!isMin(name) && !isMax(name)) rest[name] = total / counts.tokens;
  }
  if (sum !== undefined && squares !== undefined && squares > 0) {
    // Where squares overflow, the token of that weight is the whole sample.
    const share = squares === Number.POSITIVE_INFINITY ? 1 : (sum * sum) / squares;
    rest['ratio/ess'] = share / counts.tokens;
  }
  return { ...rest, ...quantilesOf(bins, rest) };
}

function isMin(name: string): boolean {
  return /[/_]min$/.test(name);
}

function isMax(name: string): boolean {
  return /[/_]max$/.test(name);
}

/** Quantiles from counts by bin, never outside of the extremes. */
function quantilesOf(
  bins: ReadonlyMap<number, number>,
  { 'ratio/min': smallest = 0, 'ratio/max': largest = 0 }: Readonly<Record<string, number>>,
): Record<string, number> {
  const sorted = [...bins].sort(([a], [b]) => a - b);
  const count = sorted.reduce((sum, [, own]) => sum + own, 0);
  if (count === 0) return {};
  const valueAt = (share: number): number => {
    let seen = 0;
    for (const [bin, own] of sorted) {
      seen += own;
      if (seen >= share * count) return Math.max(smallest, Math.min(largest, Math.exp(bin * BIN)));
    }
    return largest;
  };
  return Object.fromEntries(
    Object.entries(QUANTILES).map(([name, share]) => [name, valueAt(share)]),
  );
}
