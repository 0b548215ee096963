export { majorityAtK, passAtK, type Vote } from './at-k.ts';
export {
  type BootstrapOptions,
  bootstrap,
  bootstrapMean,
  type Estimate,
  type Interval,
} from './bootstrap.ts';
export { type ComparisonOptions, comparePaired, type PairedComparison } from './compare-paired.ts';
export { holm } from './holm.ts';
export { cohenKappa, type Kappa, type KappaOptions, type KappaWeights } from './kappa.ts';
export { type McNemarMethod, mcnemar } from './mcnemar.ts';
export { meanRelativeAccuracy, type RelativeAccuracyOptions } from './mean-relative-accuracy.ts';
export { criticalValue, normalCdf, normalQuantile, normalTail } from './normal.ts';
export {
  type Alternative,
  type PermutationOptions,
  type PermutationTest,
  pairedPermutation,
} from './paired-permutation.ts';
export { type PowerOptions, powerOf, tasksNeeded } from './power.ts';
export { type Preference, type Proportion, type WinRate, wilson, winRate } from './proportion.ts';
export { type WilcoxonTest, wilcoxon } from './wilcoxon.ts';
