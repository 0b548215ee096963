export { defineEngine, type EngineContext, type EngineUnit, type OpenEngine } from './engine.ts';
export { EngineError, type EngineFault, isGone } from './engine-error.ts';
export type { EngineHttpOptions } from './engine-http.ts';
export { EnginePool, type PublishTo } from './engine-pool.ts';
export { LastingEngine, type LastingOptions } from './lasting-engine.ts';
export {
  type Capability,
  describeEngine,
  type EngineReport,
} from './probe-engine.ts';
export {
  type PublishOptions,
  resumeEngine,
  type WeightPublisher,
  weightPublisher,
} from './publish-weights.ts';
export { engines, type KnownEngine } from './registry.ts';
export {
  type EngineNeeds,
  examineEngine,
  openRemotePolicy,
  RemotePolicy,
  type RemotePolicyOptions,
} from './remote-policy.ts';
export type { WeightChanges } from './weight-changes.ts';
