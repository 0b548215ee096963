export { assetPaths } from './assets.ts';
export {
  type CallEngine,
  type CommonSettings,
  defineVisionTool,
  imageAt,
  imageIndex,
  isOutcome,
  type VisionToolDefinition,
} from './define-vision-tool.ts';
export { answered, declined, madeOf } from './outcomes.ts';
export { type KnownVisionTool, visionTools } from './registry.ts';
export type { EngineImage } from './workers/reply.ts';
export { defaultRestartLimits, type RestartLimits } from './workers/restarts.ts';
export {
  DeclinedError,
  type EngineResult,
  type RunOptions,
  type VisionEngine,
} from './workers/vision-engine.ts';
export { WorkerPool, type WorkerPoolOptions, type WorkerPoolStats } from './workers/worker-pool.ts';
