export { accuracyBaseline } from './advantages/accuracy-baseline.ts';
export { bestOfGroup, leadOfGroup } from './advantages/best-of-group.ts';
export { greedyBaseline } from './advantages/greedy-baseline.ts';
export { groupMean, type Singleton } from './advantages/group-mean.ts';
export { type GroupStdOptions, groupStd } from './advantages/group-std.ts';
export { leaveOneOut } from './advantages/leave-one-out.ts';
export { lengthWeighted } from './advantages/length-weighted.ts';
export { type PerTermOptions, perTerm } from './advantages/per-term.ts';
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
export { bypassReinforce } from './algorithms/bypass-reinforce.ts';
export { cispo } from './algorithms/cispo.ts';
export { clipCov } from './algorithms/clip-cov.ts';
export { codedance } from './algorithms/codedance.ts';
export { codevision } from './algorithms/codevision.ts';
export { dapo } from './algorithms/dapo.ts';
export { decoupledPpo } from './algorithms/decoupled-ppo.ts';
export { dppo } from './algorithms/dppo.ts';
export { drGrpo } from './algorithms/dr-grpo.ts';
export { dro } from './algorithms/dro.ts';
export { gdpo } from './algorithms/gdpo.ts';
export { gigpo } from './algorithms/gigpo.ts';
export { gmpo } from './algorithms/gmpo.ts';
export { gpg } from './algorithms/gpg.ts';
export { grpo } from './algorithms/grpo.ts';
export { gspo } from './algorithms/gspo.ts';
export { klCov } from './algorithms/kl-cov.ts';
export { onPolicyDistillation } from './algorithms/on-policy-distillation.ts';
export { opo } from './algorithms/opo.ts';
export { optimalTokenBaseline } from './algorithms/optimal-token-baseline.ts';
export { passAtK } from './algorithms/pass-at-k.ts';
export { pfPpo } from './algorithms/pf-ppo.ts';
export { ppo } from './algorithms/ppo.ts';
export { pyvisionRl } from './algorithms/pyvision-rl.ts';
export { reinforce } from './algorithms/reinforce.ts';
export { reinforcePlusPlus } from './algorithms/reinforce-plus-plus.ts';
export { reinforcePlusPlusBaseline } from './algorithms/reinforce-plus-plus-baseline.ts';
export { remax } from './algorithms/remax.ts';
export { rloo } from './algorithms/rloo.ts';
export { sapo } from './algorithms/sapo.ts';
export { tapo } from './algorithms/tapo.ts';
export { tapoAugmented } from './algorithms/tapo-augmented.ts';
export { vespo } from './algorithms/vespo.ts';
export { vistaR1 } from './algorithms/vista-r1.ts';
export type {
  Aggregation,
  Choices,
  GroupAdvantage,
  KlEstimate,
  KlRewardMode,
  Ratio,
  Selector,
  Surrogate,
  SurrogateInput,
  SurrogateValues,
  TokenAdvantage,
  ValueTerm,
} from './choices.ts';
export {
  type AdaptiveEntropyOptions,
  type AdaptiveEntropyState,
  adaptiveEntropy,
  adaptiveEntropyStart,
} from './coefficients/adaptive-entropy.ts';
export { type AdaptiveKlOptions, adaptiveKl } from './coefficients/adaptive-kl.ts';
export { composeAlgorithm, groupsOfSize } from './compose.ts';
export type { Composition, SettingsWith } from './composition.ts';
export { type CorrectionOptions, correctionOf } from './correction.ts';
export {
  type ImportanceWeightOptions,
  importanceWeightSettings,
  importanceWeights,
} from './corrections/importance-weights.ts';
export {
  type RejectionOptions,
  readRejection,
  rejectionMask,
  rejectionNames,
  rejectionSettings,
} from './corrections/rejection.ts';
export { countGlobally } from './counts.ts';
export {
  type CurrentPolicy,
  explainStep,
  explanationRow,
  type StepExplanation,
  type TokenRow,
} from './explain.ts';
export {
  gradientOrClip,
  gradientOrClipSettings,
  groupRelative,
  groupRelativeSettings,
} from './group-relative.ts';
export { abs } from './kl/abs.ts';
export { k1 } from './kl/k1.ts';
export { k2 } from './kl/k2.ts';
export { k3, k3Bounded } from './kl/k3.ts';
export { withKlInReward } from './kl-reward.ts';
export { type Clip, clip, clipNames, type MaskCause, mark, maskCauses } from './marks.ts';
export { meanKl } from './mean-kl.ts';
export { finishMetrics } from './metrics.ts';
export { type DemonstrationBatch, negativeLogLikelihood } from './negative-log-likelihood.ts';
export { type PreparedStep, prepareStep, selectTokens } from './pipeline.ts';
export {
  paperGroup,
  paperNumbers,
  trlGroup,
  trlNumbers,
  verlGroup,
  verlNumbers,
  verlOwnAggregation,
} from './profiles.ts';
export { behaviorRatio, behaviorSequenceRatio } from './ratios/behavior.ts';
export { correctedSequenceRatio } from './ratios/corrected-sequence.ts';
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
export { offPolicySequences } from './selectors/off-policy-sequences.ts';
export { topEntropy } from './selectors/top-entropy.ts';
export { type SharedSettings, sharedSettings } from './shared-settings.ts';
export { straightThrough } from './straight-through.ts';
export { type CispoOptions, cispoSurrogate } from './surrogates/cispo.ts';
export { type ClippedOptions, clipped } from './surrogates/clipped.ts';
export { type DppoOptions, dppoSurrogate } from './surrogates/dppo.ts';
export { droSurrogate } from './surrogates/dro.ts';
export { klCovSurrogate } from './surrogates/kl-cov.ts';
export { logProbability } from './surrogates/log-probability.ts';
export { type SapoOptions, sapoSurrogate } from './surrogates/sapo.ts';
export { truncatedReinforce } from './surrogates/truncated-reinforce.ts';
export { unclipped } from './surrogates/unclipped.ts';
export { type VespoOptions, vespoSurrogate } from './surrogates/vespo.ts';
export { baselineReturns } from './token-advantages/baseline-returns.ts';
export { batchShare } from './token-advantages/batch-share.ts';
export { batchStd } from './token-advantages/batch-std.ts';
export { broadcast } from './token-advantages/broadcast.ts';
export { gae } from './token-advantages/gae.ts';
export {
  type OptimalBaselineOptions,
  optimalBaseline,
} from './token-advantages/optimal-baseline.ts';
export { returnToGo } from './token-advantages/return-to-go.ts';
export {
  type RewardWeightOptions,
  rewardWeighted,
  rewardWeights,
} from './token-advantages/reward-weighted.ts';
export { standardized } from './token-advantages/standardized.ts';
export { teacherLogRatio } from './token-advantages/teacher-log-ratio.ts';
export { turnGroups } from './token-advantages/turn-groups.ts';
export { turnReturnsStandardized } from './token-advantages/turn-returns.ts';
export { whitened } from './token-advantages/whitened.ts';
export { type TopKBatch, topKForwardKl } from './top-k-forward-kl.ts';
export { owning, type SettingsShape, type ValuesOf } from './unit.ts';
export { clippedValueLoss, type ValueLoss, valueTerm } from './value-loss.ts';
