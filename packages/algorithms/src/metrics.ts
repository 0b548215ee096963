/**
 * What a step tells about itself besides its loss. Each name is defined here once:
 *
 * - `clip_ratio/low_mean`: share of tokens held back by 1 − clipLow (A < 0)
 * - `clip_ratio/high_mean`: share held back by 1 + clipHigh (A > 0)
 * - `clip_ratio/dual_mean`: share held back by the dual clip (A < 0)
 * - `clip_ratio/region_mean`: share held back by any of the three
 * - `approx_kl/k1`, `approx_kl/k3`: mean estimates of KL(old ‖ current); the tokens were sampled by
 *   the old policy, so d = logprobs − oldLogprobs, k1 = −d, k3 = exp(d) − d − 1
 * - `ratio/mean`, `ratio/min`, `ratio/max`: importance ratios
 * - `entropy`: mean entropy, nats, where the batch has it
 * - `kl`: mean k3 estimate of KL(current ‖ reference), where the loss has a KL term
 *
 * The first three and `entropy`, `kl` are TRL's names. Only tokens whose mask is not 0 count.
 */
import type { GlobalCounts, TokenBatch } from './algorithm.ts';
import type { Clip } from './choices.ts';
import { k1 } from './kl/k1.ts';
import { k3 } from './kl/k3.ts';

/** Sums over one micro-batch, and the extremes, under the names above. */
export function sumMetrics(
  batch: TokenBatch,
  ratios: Float64Array,
  clips: readonly Clip[],
  klSum?: number,
): Record<string, number> {
  const clipped: Record<Clip, number> = { none: 0, low: 0, high: 0, dual: 0 };
  let k1Sum = 0;
  let k3Sum = 0;
  let ratioSum = 0;
  let smallest = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  let entropySum = 0;
  for (let t = 0; t < ratios.length; t++) {
    if (batch.lossMask[t] === 0) continue;
    const ratio = ratios[t] as number;
    const logprob = batch.logprobs[t] as number;
    const oldLogprob = batch.oldLogprobs[t] as number;
    clipped[clips[t] ?? 'none']++;
    k1Sum += k1(oldLogprob, logprob).value;
    k3Sum += k3(oldLogprob, logprob).value;
    ratioSum += ratio;
    smallest = Math.min(smallest, ratio);
    largest = Math.max(largest, ratio);
    entropySum += batch.entropy?.[t] ?? 0;
  }
  return {
    'clip_ratio/low_mean': clipped.low,
    'clip_ratio/high_mean': clipped.high,
    'clip_ratio/dual_mean': clipped.dual,
    'clip_ratio/region_mean': clipped.low + clipped.high + clipped.dual,
    'approx_kl/k1': k1Sum,
    'approx_kl/k3': k3Sum,
    'ratio/mean': ratioSum,
    'ratio/min': smallest,
    'ratio/max': largest,
    ...(batch.entropy && { entropy: entropySum }),
    ...(klSum !== undefined && { kl: klSum }),
  };
}

/**
 * The metrics of a step from those of its micro-batches: sums over the step's tokens, extremes over
 * all. A step without tokens has none.
 */
export function finishMetrics(
  parts: readonly Readonly<Record<string, number>>[],
  counts: GlobalCounts,
): Record<string, number> {
  const totals: Record<string, number> = {};
  if (counts.tokens === 0) return totals;
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      const total = totals[name];
      if (total === undefined) totals[name] = value;
      else if (name.endsWith('/min')) totals[name] = Math.min(total, value);
      else if (name.endsWith('/max')) totals[name] = Math.max(total, value);
      else totals[name] = total + value;
    }
  }
  for (const [name, total] of Object.entries(totals)) {
    if (!name.endsWith('/min') && !name.endsWith('/max')) totals[name] = total / counts.tokens;
  }
  return totals;
}
