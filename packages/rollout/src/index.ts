export { ModelImages } from './model-images.ts';
export {
  type MicroBatch,
  type PackItem,
  type Packing,
  type PackOptions,
  packTrajectories,
} from './pack.ts';
export { type RolloutOptions, rollout, type SamplingOptions } from './rollout.ts';
export {
  type GroupOptions,
  type MakeEnv,
  type RetryBudgets,
  type RunOptions,
  type RunResult,
  rolloutGroup,
  runRollouts,
} from './runner.ts';
