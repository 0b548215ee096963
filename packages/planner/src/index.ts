export { calibrateOpening } from './calibrate.ts';
export { calibrateMain } from './calibrate-main.ts';
export { simulateCluster } from './cluster.ts';
export {
  type CostDocument,
  type Costs,
  costSettings,
  mergeCosts,
  readCosts,
  readCostsFile,
  setCost,
} from './costs-file.ts';
export { type RunCosts, readRunCosts } from './costs-from-run.ts';
export { type DecodePoint, decodeSpeed } from './decode-table.ts';
export { type Placement, placements } from './device-shares.ts';
export { fitLine, type LearningPoint } from './fit-line.ts';
export { type LearnerCosts, type LearnSeconds, learnSeconds } from './learner-cost.ts';
export {
  type MeasuredEngine,
  type MeasuredPrompt,
  type MeasureOptions,
  measureEngine,
  promptSharing,
  type RequestCosts,
  requestCosts,
  type UsedSeconds,
} from './measure-engine.ts';
export { median } from './median.ts';
export { type GpuPlan, type PlanOptions, planCluster, simulationOf } from './plan.ts';
export { drawPlanPage, planRows } from './plan-page.ts';
export { type GroupProfile, profileGroups, type TrajectoryProfile } from './profile.ts';
export type {
  ClusterCosts,
  ClusterReport,
  ClusterSimulation,
  ClusterSize,
  TrainingShape,
} from './simulation.ts';
