export { simulateCluster } from './cluster.ts';
export { type DecodePoint, decodeSpeed } from './decode-table.ts';
export { type Placement, placements } from './device-shares.ts';
export { type LearnerCosts, type LearnSeconds, learnSeconds } from './learner-cost.ts';
export { type GroupProfile, profileGroups, type TrajectoryProfile } from './profile.ts';
export type {
  ClusterCosts,
  ClusterReport,
  ClusterSimulation,
  ClusterSize,
  TrainingShape,
} from './simulation.ts';
