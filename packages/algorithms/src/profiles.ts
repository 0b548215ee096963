/** What a paper or a library has in common over all its algorithms: epsilons, clamps, counts. */

/** Formulas as they are printed: no clamps, no epsilons. */
export const paperNumbers = {
  maxLogRatio: 0,
  lengthEpsilon: 0,
  emptySequences: 'skip',
  kl: 'k3',
  klImportance: false,
  entropyAggregation: 'loss',
};

/** verl: log-ratios within ±20, k3 with bounds, 1e-8 on masked means. */
export const verlNumbers = {
  maxLogRatio: 20,
  lengthEpsilon: 1e-8,
  emptySequences: 'skip',
  kl: 'k3-bounded',
  klImportance: false,
  entropyAggregation: 'loss',
  correctionMaxLogRatio: 20,
  correctionLow: 0,
  correctionHigh: 2,
};

/**
 * TRL 1.13: no clamps, KL weighted with the ratio, empty sequences counted, entropy as a mean over
 * tokens; `correction: 'mask'` then is its default for vLLM.
 */
export const trlNumbers = {
  maxLogRatio: 0,
  lengthEpsilon: 0,
  emptySequences: 'count',
  kl: 'k3',
  klImportance: true,
  entropyAggregation: 'token-mean',
  correctionLevel: 'sequence',
  correctionMaxLogRatio: 0,
  correctionLow: 0,
  correctionHigh: 3,
};
