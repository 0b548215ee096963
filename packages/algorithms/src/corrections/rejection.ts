/** Rejects tokens or sequences on which sampler and trainer differ too much. */
import { ConfigError } from '@saccade/core';
import { quantity, text } from '@saccade/core/settings';
import type { FloatArray, Step } from '../algorithm.ts';
import { LARGEST } from '../fields.ts';
import { forEachSequence, trainedIn } from '../sequences.ts';

/** Level, reduction over the sequence, and estimate of the divergence. */
export const rejectionNames = [
  'token-k1',
  'token-k2',
  'token-k3',
  'sequence-sum-k1',
  'sequence-sum-k2',
  'sequence-sum-k3',
  'sequence-mean-k1',
  'sequence-mean-k2',
  'sequence-mean-k3',
  'sequence-max-k2',
  'sequence-max-k3',
] as const;

/** One criterion of rejection: a statistic of the divergence, and its bounds. */
export interface RejectionOptions {
  /** Level, reduction and estimate, for example `sequence-mean-k1`. */
  readonly statistic: (typeof rejectionNames)[number];
  /** Lower bound for k1, a ratio of sampler to trainer; 0 stands for 1/high. Others have none. */
  readonly low: number;
  /** Upper bound: for k1 a ratio of sampler to trainer, for k2 and k3 a divergence in nats. */
  readonly high: number;
}

/** The settings of rejection. */
export const rejectionSettings = {
  rejection: text({
    default: 'none',
    unit: 'criteria',
    about:
      'Divergence of sampler and trainer by which tokens or sequences are rejected: none, or ' +
      'criteria separated by commas, each with its own bounds or the shared ones: ' +
      `"token-k1 0.5..2, sequence-max-k3 0.1". Criteria: ${rejectionNames.join(', ')}.`,
  }),
  rejectionLow: quantity({
    min: 0,
    max: LARGEST,
    default: 0,
    unit: 'ratio',
    about: 'Shared lower bound (k1 only); 0 means 1/rejectionHigh.',
  }),
  rejectionHigh: quantity({
    min: 0,
    max: LARGEST,
    default: 2,
    unit: 'ratio (k1) or nats',
    about: 'Shared upper bound: a ratio for k1, else nats. Above 0.',
  }),
};

/**
 * Reads the setting `rejection`: `none`, or names with optional bounds, separated by commas.
 *
 * @returns one entry per criterion; all must hold for a token to be kept
 * @throws ConfigError for an unknown criterion, one named twice, or bounds that leave nothing
 */
export function readRejection(
  rejection: string,
  shared: { readonly low: number; readonly high: number },
): readonly RejectionOptions[] {
  if (rejection === 'none') {
    // Invalid bounds are an error even if no criterion uses them.
    checkBounds({ statistic: 'sequence-mean-k2', ...shared });
    return [];
  }
  const criteria = rejection.split(',').map((part) => readCriterion(part.trim(), shared));
  const twice = criteria.find(
    ({ statistic }, i) => criteria.findIndex((other) => other.statistic === statistic) < i,
  );
  if (twice) {
    throw new ConfigError('rejection', `rejection names ${twice.statistic} twice. Name it once.`);
  }
  return criteria;
}

function readCriterion(
  part: string,
  shared: { readonly low: number; readonly high: number },
): RejectionOptions {
  const [name = '', bounds, ...rest] = part.split(/\s+/);
  const statistic = rejectionNames.find((known) => known === name);
  if (statistic === undefined) {
    throw new ConfigError(
      'rejection',
      `There is no rejection "${part}". Known: none, ${rejectionNames.join(', ')}.`,
    );
  }
  if (rest.length > 0) {
    throw new ConfigError(
      'rejection',
      `rejection "${part}" has more than a name and its bounds. Separate criteria by commas.`,
    );
  }
  const read = bounds === undefined ? { statistic, ...shared } : boundsOf(statistic, bounds);
  checkBounds(read);
  return read;
}

/** `0.5..2` or `2`. */
function boundsOf(statistic: RejectionOptions['statistic'], bounds: string): RejectionOptions {
  const ends = bounds.split('..');
  const [first = Number.NaN, second] = ends.map((end) => (end === '' ? Number.NaN : Number(end)));
  const [low, high] = second === undefined ? [0, first] : [first, second];
  const isRange = second !== undefined;
  if (ends.length > 2 || ![low, high].every(Number.isFinite) || (isRange && !(low > 0))) {
    throw new ConfigError(
      'rejection',
      `The bounds of ${statistic} must be like "2" or "0.5..2", they are "${bounds}".`,
    );
  }
  if (isRange && !statistic.endsWith('k1')) {
    throw new ConfigError(
      'rejection',
      `${statistic} is a divergence without a lower bound, and "${bounds}" has one. ` +
        'Give its upper bound alone.',
    );
  }
  return { statistic, low, high };
}

function checkBounds({ statistic, low, high }: RejectionOptions): void {
  if (!(high > 0)) {
    throw new ConfigError('rejectionHigh', `rejectionHigh must be above 0, is ${high}.`);
  }
  if (!statistic.endsWith('k1')) return;
  const lower = low === 0 ? 1 / high : low;
  if (lower < high) return;
  throw new ConfigError(
    'rejectionHigh',
    `${statistic} keeps ratios from ${lower} to ${high}, which is nothing. ` +
      (low === 0
        ? 'Without rejectionLow the lower bound is 1/rejectionHigh: set rejectionHigh above 1.'
        : 'Set rejectionHigh above rejectionLow.'),
  );
}

/**
 * The mask without the tokens, or without the sequences, whose divergence is out of bounds.
 *
 *   dₜ = oldLogprobsₜ − rolloutLogprobsₜ, held within ±20
 *   k1 = −d, kept if ln(low) ≤ k1 ≤ ln(high);   k2 = ½d², k3 = exp(d) − d − 1, kept if ≤ high
 *   token-k: each token;   sequence-sum-k, -mean-k, -max-k: over the sequence's tokens that train
 *
 * verl's rollout rejection (`token_k1` … `seq_max_k3`); the geometric mean of the ratios, with
 * bounds such as 0.999 to 1.001, is `sequence-mean-k1`. Rejected tokens also leave the
 * denominators, which are counted from the new mask. With several criteria, each sees the mask from
 * before rejection, and all must hold.
 *
 * @returns [N]
 * @throws ConfigError if the bounds leave nothing
 */
export function rejectionMask(
  { lossMask, sequenceOffsets }: Pick<Step, 'lossMask' | 'sequenceOffsets'>,
  differences: FloatArray,
  options: RejectionOptions,
): Float64Array {
  const { statistic, high } = options;
  checkBounds(options);
  const estimate = statistic.slice(-2);
  const low = options.low === 0 ? 1 / high : options.low;
  const divergence = (t: number): number => {
    const d = Math.max(-20, Math.min(20, differences[t] as number));
    if (estimate === 'k1') return -d;
    return estimate === 'k2' ? 0.5 * d * d : Math.exp(d) - 1 - d;
  };
  const isKept = (value: number): boolean =>
    estimate === 'k1' ? value >= Math.log(low) && value <= Math.log(high) : value <= high;
  const kept = Float64Array.from(lossMask);
  if (statistic.startsWith('token')) {
    for (let t = 0; t < kept.length; t++) {
      if (lossMask[t] !== 0 && !isKept(divergence(t))) kept[t] = 0;
    }
    return kept;
  }
  forEachSequence(sequenceOffsets, (_, start, end) => {
    let sum = 0;
    let largest = 0;
    for (let t = start; t < end; t++) {
      if (lossMask[t] === 0) continue;
      const value = divergence(t);
      sum += value;
      largest = Math.max(largest, value);
    }
    const reduced = statistic.includes('-max-')
      ? largest
      : statistic.includes('-sum-')
        ? sum
        : sum / Math.max(trainedIn(lossMask, start, end), 1);
    if (!isKept(reduced)) kept.fill(0, start, end);
  });
  return kept;
}
