export { groupMean } from './advantages/group-mean.ts';
export { groupStd } from './advantages/group-std.ts';
export { sequenceMeanTokenMean } from './aggregations/sequence-mean-token-mean.ts';
export { tokenMean } from './aggregations/token-mean.ts';
export { tokenSum } from './aggregations/token-sum.ts';
export type {
  Algorithm,
  AlgorithmResult,
  AlgorithmSettings,
  FloatArray,
  GlobalCounts,
  TokenBatch,
} from './algorithm.ts';
export { dapo } from './algorithms/dapo.ts';
export { grpo } from './algorithms/grpo.ts';
export { pyvisionRl } from './algorithms/pyvision-rl.ts';
export { reinforce } from './algorithms/reinforce.ts';
export type {
  Advantage,
  Aggregation,
  Clip,
  KlEstimate,
  Ratio,
  Surrogate,
  SurrogateInput,
  SurrogateValues,
} from './choices.ts';
export { countGlobally } from './counts.ts';
export { k1 } from './kl/k1.ts';
export { k3 } from './kl/k3.ts';
export { type Choices, type Composition, composeAlgorithm } from './loss.ts';
export { finishMetrics } from './metrics.ts';
export { type DemonstrationBatch, negativeLogLikelihood } from './negative-log-likelihood.ts';
export { tokenRatio } from './ratios/token.ts';
export { algorithms } from './registry.ts';
export { type ClippedOptions, clipped } from './surrogates/clipped.ts';
export { logProbability } from './surrogates/log-probability.ts';
