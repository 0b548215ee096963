/**
 * The numbers that a paper or a library shares over all its algorithms: epsilons, clamps, counts.
 */
import type { AlgorithmSettings } from './algorithm.ts';

/** Formulas as printed in the papers: no clamps, no epsilons. */
export const paperNumbers: AlgorithmSettings = {
  maxLogRatio: 0,
  lengthEpsilon: 0,
  emptySequences: 'skip',
  kl: 'k3',
  klImportance: false,
  klAggregation: 'loss',
  entropyAggregation: 'loss',
};

/**
 * verl: log-ratios within ±20, k3 with bounds, 1e-8 on masked means, a group of one keeps its
 * reward. Its trainer divides means over sequences by the whole minibatch, sequences without a
 * token that trains included. Rewards and the KL subtracted from them are placed before rejection,
 * so that a rejected token loses its share.
 */
export const verlNumbers: AlgorithmSettings = {
  maxLogRatio: 20,
  lengthEpsilon: 1e-8,
  emptySequences: 'count',
  rewardPlacement: 'all',
  kl: 'k3-bounded',
  klImportance: false,
  klAggregation: 'loss',
  entropyAggregation: 'loss',
  singleton: 'reward',
  correctionMaxLogRatio: 20,
  correctionLow: 0,
  correctionHigh: 2,
};

/**
 * TRL 1.13: no clamps, KL weighted with the ratio, empty sequences counted, entropy as a mean over
 * tokens; `correction: 'mask'` then is its default for vLLM.
 */
export const trlNumbers: AlgorithmSettings = {
  maxLogRatio: 0,
  lengthEpsilon: 0,
  emptySequences: 'count',
  kl: 'k3',
  klImportance: true,
  klAggregation: 'loss',
  singleton: 'zero',
  entropyAggregation: 'token-mean',
  correctionLevel: 'sequence',
  correctionMaxLogRatio: 0,
  correctionLow: 0,
  correctionHigh: 3,
};

/** The papers' standard deviations have nothing added. */
export const paperGroup: AlgorithmSettings = { ...paperNumbers, stdEpsilon: 0 };

/** verl's `vanilla` loss, which always has a dual clip of 3, on its group advantages. */
export const verlGroup: AlgorithmSettings = {
  ...verlNumbers,
  stdEpsilon: 1e-6,
  dualClip: 3,
  aggregation: 'token-mean',
};

/** TRL's group advantages. */
export const trlGroup: AlgorithmSettings = { ...trlNumbers, stdEpsilon: 1e-4 };

/**
 * verl's losses that ignore the configured aggregation; KL and entropy still follow it, and it is
 * `token-mean` by default.
 */
export const verlOwnAggregation: AlgorithmSettings = {
  ...verlNumbers,
  stdEpsilon: 1e-6,
  klAggregation: 'token-mean',
  entropyAggregation: 'token-mean',
};
