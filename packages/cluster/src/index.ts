export {
  type ClusterChanges,
  type ClusterFile,
  checkCluster,
  clusterSettings,
  readClusterFile,
} from './cluster-file.ts';
export { type EndReport, endCluster } from './end-cluster.ts';
export { findJob, type Job, type JobRequest, listJobs, startJob, stopJob } from './jobs.ts';
export { type FollowOptions, followLog, lastLines, listLogs, logFile } from './logs.ts';
export { collectMetrics, type Exposition, joinExpositions } from './metrics.ts';
export type { ClusterPlan, Group, PartPlan } from './plan.ts';
export type { Environment } from './python.ts';
export {
  runningCluster,
  type StartedCluster,
  type StartOptions,
  startCluster,
} from './start-cluster.ts';
export {
  type ClusterPaths,
  type ClusterState,
  findCluster,
  type PartState,
  pathsOf,
  readState,
} from './state.ts';
export { type TrainingSettings, tokenOf, trainingSettings } from './training-settings.ts';
