export {
  type Comparison,
  compareTrajectories,
  type Difference,
  differenceKinds,
} from './compare-trajectories.ts';
export { type EncodedMessage, encodeMessage } from './content.ts';
export { describeDifference } from './describe-difference.ts';
export { Stopped } from './failures.ts';
export { ModelImages } from './model-images.ts';
export {
  type MicroBatch,
  type PackItem,
  type Packing,
  type PackOptions,
  packTrajectories,
} from './pack.ts';
export type { PartialRollout } from './partial.ts';
export {
  type RecordedEnvOptions,
  type RecordedSamplerOptions,
  ReplayDivergedError,
  recordedEnv,
  recordedSampler,
  recordedTask,
} from './recorded-env.ts';
export { type Replayed, type ReplayOptions, replay, streamOf } from './replay.ts';
export { type ResumableOptions, ResumableRollout } from './resumable-rollout.ts';
export { rollout } from './rollout.ts';
export type { RolloutOptions, SamplingOptions } from './rollout-options.ts';
export {
  type MakeEnv,
  type RetriedOptions,
  type RetriedRollout,
  rolloutWithRetries,
} from './rollout-with-retries.ts';
export {
  type GroupOptions,
  type RunOptions,
  type RunResult,
  rolloutGroup,
  runRollouts,
} from './runner.ts';
export {
  type PackingSettings,
  packingSettings,
  type RolloutSettings,
  rolloutSettings,
} from './settings.ts';
export { type SlowTools, withSlowTools } from './slow-tools.ts';
export { checkRetries, type RetryBudgets } from './tries.ts';
