export {
  type Optimizer,
  type OptimizerUnit,
  type StepResult,
  transformed,
} from './optimizer.ts';
export { adamw, adamw8bit, lion, muon, sgd } from './optimizers/catalog.ts';
export { createOptimizer, type OptimizerChoice, optimizers, schedules } from './registry.ts';
export type { Schedule, ScheduleSpan, ScheduleUnit } from './schedule.ts';
export { constant, cosine, linear, warmupStableDecay } from './schedules/catalog.ts';
export {
  disposeState,
  emptyState,
  exportState,
  importState,
  type OptimizerState,
  type SavedState,
  type StateArray,
} from './state.ts';
export { chain, type Tensors, type Transformation, type UpdateInfo } from './transformation.ts';
export { addDecayedWeights } from './transformations/add-decayed-weights.ts';
export { clipByGlobalNorm } from './transformations/clip-by-global-norm.ts';
export { masked, type ParameterFilter } from './transformations/masked.ts';
export { orthogonalize } from './transformations/orthogonalize.ts';
export { type AdamOptions, scaleByAdam } from './transformations/scale-by-adam.ts';
export { scaleByLearningRate } from './transformations/scale-by-learning-rate.ts';
export { scaleByLion } from './transformations/scale-by-lion.ts';
export { type TraceOptions, trace } from './transformations/trace.ts';
