/** The filters that leave unlikely tokens out of sampling: top-k, top-p and min-p. */
import { ConfigError } from '@saccade/core';
import { count, quantity } from '@saccade/core/settings';

/**
 * Which tokens may be sampled, after the temperature: first topK, then topP of what it left, then
 * minP. The op `linearSampleTruncated` has the formulas. At temperature 0 they have no effect.
 */
export interface Truncation {
  /** Only so many of the most likely tokens, and those as likely as the last; 0: all. Default 0. */
  readonly topK?: number;
  /** Only the most likely tokens that together have this probability; 1: all. Default 1. */
  readonly topP?: number;
  /** Only tokens at least this times as likely as the most likely one; 0: all. Default 0. */
  readonly minP?: number;
}

/** The settings of a `Truncation`, for sections that say how to sample. */
export const truncationSettings = {
  topK: count({
    min: 0,
    max: 1_000_000,
    default: 0,
    unit: 'tokens',
    about: 'Only so many of the most likely tokens are sampled from; 0: all.',
  }),
  topP: quantity({
    min: 1e-6,
    max: 1,
    default: 1,
    unit: 'probability',
    about: 'Only the most likely tokens that together have this probability, after topK; 1: all.',
  }),
  minP: quantity({
    min: 0,
    max: 1,
    default: 0,
    unit: 'ratio',
    about: 'Only tokens at least this times as likely as the most likely one, after topP; 0: all.',
  }),
};

/** A truncation with its defaults filled in. */
export function fullTruncation({ topK = 0, topP = 1, minP = 0 }: Truncation): Required<Truncation> {
  return { topK, topP, minP };
}

/** Whether any filter can leave something out. */
export function isTruncated(truncation: Truncation): boolean {
  const { topK, topP, minP } = fullTruncation(truncation);
  return topK > 0 || topP < 1 || minP > 0;
}

/** @throws ConfigError if a filter is out of range */
export function checkTruncation(truncation: Truncation): void {
  const { topK, topP, minP } = fullTruncation(truncation);
  if (!Number.isInteger(topK) || topK < 0) {
    throw new ConfigError('topK', `topK must be a whole number of at least 0, got ${topK}.`);
  }
  if (!(topP > 0 && topP <= 1)) {
    throw new ConfigError('topP', `topP must be above 0 and at most 1, got ${topP}.`);
  }
  if (!(minP >= 0 && minP <= 1)) {
    throw new ConfigError('minP', `minP must be 0 to 1, got ${minP}.`);
  }
}
