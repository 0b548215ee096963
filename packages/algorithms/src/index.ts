export { accuracyBaseline } from './advantages/accuracy-baseline.ts';
export { bestOfGroup } from './advantages/best-of-group.ts';
export { greedyBaseline } from './advantages/greedy-baseline.ts';
export { groupMean, type Singleton } from './advantages/group-mean.ts';
export { type GroupStdOptions, groupStd } from './advantages/group-std.ts';
export { leaveOneOut } from './advantages/leave-one-out.ts';
export { lengthWeighted } from './advantages/length-weighted.ts';
export { perTerm } from './advantages/per-term.ts';
export { rawReward } from './advantages/raw-reward.ts';
export { fixedLength } from './aggregations/fixed-length.ts';
export { sequenceMeanTokenMean } from './aggregations/sequence-mean-token-mean.ts';
export {
  type SequenceOptions,
  sequenceMeanTokenSum,
} from './aggregations/sequence-mean-token-sum.ts';
export { tokenMean } from './aggregations/token-mean.ts';
export { tokenSum } from './aggregations/token-sum.ts';
export type {
  Algorithm,
  AlgorithmResult,
  AlgorithmSettings,
  Correction,
  FloatArray,
  GlobalCounts,
  ScoredGroup,
  Selection,
  Step,
  TokenAdvantages,
  TokenBatch,
  TokenTable,
} from './algorithm.ts';
export { dapo } from './algorithms/dapo.ts';
export { grpo } from './algorithms/grpo.ts';
export { pyvisionRl } from './algorithms/pyvision-rl.ts';
export { reinforce } from './algorithms/reinforce.ts';
export type {
  Aggregation,
  Choices,
  Composition,
  GroupAdvantage,
  KlEstimate,
  Ratio,
  Selector,
  Surrogate,
  SurrogateInput,
  SurrogateValues,
  TokenAdvantage,
} from './choices.ts';
export { composeAlgorithm, groupsOfSize } from './compose.ts';
export { type CorrectionOptions, correctionOf } from './corrections/correct.ts';
export {
  type ImportanceWeightOptions,
  importanceWeights,
} from './corrections/importance-weights.ts';
export { type RejectionOptions, rejectionMask, rejectionNames } from './corrections/rejection.ts';
export { countGlobally } from './counts.ts';
export { abs } from './kl/abs.ts';
export { k1 } from './kl/k1.ts';
export { k2 } from './kl/k2.ts';
export { k3, k3Bounded } from './kl/k3.ts';
export { type Clip, clip, clipNames, type MaskCause, mark, maskCauses } from './marks.ts';
export { finishMetrics } from './metrics.ts';
export { type DemonstrationBatch, negativeLogLikelihood } from './negative-log-likelihood.ts';
export { type PreparedStep, prepareStep } from './pipeline.ts';
export { decoupledRatio } from './ratios/decoupled.ts';
export { geometricMeanRatio } from './ratios/geometric-mean.ts';
export {
  type SequenceRatioOptions,
  sequenceRatio,
  sequenceRatioStraightThrough,
  sequenceRatioSum,
} from './ratios/sequence.ts';
export { tokenRatio } from './ratios/token.ts';
export { algorithms } from './registry.ts';
export { clipCovariance } from './selectors/clip-covariance.ts';
export { highestCovariance } from './selectors/highest-covariance.ts';
export { topEntropy } from './selectors/top-entropy.ts';
export {
  type SettingDefinition,
  type SharedSettings,
  settingDefinitions,
  sharedSettings,
} from './settings.ts';
export { straightThrough } from './straight-through.ts';
export { type CispoOptions, cispoSurrogate } from './surrogates/cispo.ts';
export { type ClippedOptions, clipped } from './surrogates/clipped.ts';
export { type DppoOptions, dppoSurrogate } from './surrogates/dppo.ts';
export { droSurrogate } from './surrogates/dro.ts';
export { klCovSurrogate } from './surrogates/kl-cov.ts';
export { logProbability } from './surrogates/log-probability.ts';
export { type SapoOptions, sapoSurrogate } from './surrogates/sapo.ts';
export { unclipped } from './surrogates/unclipped.ts';
export { batchShare } from './token-advantages/batch-share.ts';
export { batchStd } from './token-advantages/batch-std.ts';
export { broadcast } from './token-advantages/broadcast.ts';
export { gae } from './token-advantages/gae.ts';
export { optimalBaseline } from './token-advantages/optimal-baseline.ts';
export { returnToGo } from './token-advantages/return-to-go.ts';
export { standardised } from './token-advantages/standardised.ts';
export { turnGroups } from './token-advantages/turn-groups.ts';
export { turnReturnsStandardised } from './token-advantages/turn-returns.ts';
export { whitened } from './token-advantages/whitened.ts';
export { clippedValueLoss, type ValueLoss } from './value-loss.ts';
