export {
  type Checkpoint,
  checkpointDirectory,
  checkpointsOf,
  findLatestCheckpoint,
  listCheckpoints,
  verifyCheckpoint,
  type WriteCheckpointOptions,
  writeCheckpoint,
} from './checkpoint.ts';
export {
  inspectConfig,
  readConfig,
  type Sources,
  type StoredConfig,
  writeConfig,
} from './config-file.ts';
export { listFiles, makeDirectories, removeTree, writeDurably } from './durable-files.ts';
export { type Attempt, type Environment, readEnvironment, recordAttempt } from './environment.ts';
export {
  EVALUATION_SCHEMA,
  type EvaluatedModel,
  type EvaluationDocument,
  isEvaluation,
  readEvaluationDocument,
  type StoredSuite,
  type SuiteSampling,
  writeEvaluationDocument,
} from './evaluation/evaluation-document.ts';
export { readEvaluation, type StoredEvaluation } from './evaluation/read-evaluation.ts';
export {
  type Bucket,
  type EvaluationResults,
  type Measured,
  readResults,
  type SuiteFinding,
  type SuiteResults,
  writeResults,
} from './evaluation/results-document.ts';
export {
  type SampleKind,
  type ScoredSample,
  type StoredSample,
  sampleKey,
} from './evaluation/sample-files.ts';
export { openSampleLog, type SampleLog, type SampleLogOptions } from './evaluation/sample-log.ts';
export {
  type EvaluatedTask,
  readTaskList,
  samplesOf,
  taskDigest,
  taskListDigest,
  writeTaskList,
} from './evaluation/task-list.ts';
export { weightsIdentity } from './evaluation/weights-identity.ts';
export {
  type FileStatus,
  type FileSystem,
  type FileSystemOption,
  nodeFileSystem,
} from './file-system.ts';
export {
  type Inspection,
  type InspectOptions,
  inspectRun,
  WITHOUT_CHECKSUMS,
} from './inspect-run.ts';
export { lockRun } from './lock.ts';
export { type ManifestEntry, type RunManifest, readManifest, updateManifest } from './manifest.ts';
export {
  logRow,
  type MetricsLog,
  type MetricsLogOptions,
  type MetricsMark,
  type MetricsRow,
  openMetricsLog,
  type Stage,
} from './metrics-log.ts';
export { hasProfile, readProfile, type StoredProfile, writeProfile } from './profile-file.ts';
export { isTiming, type Metrics, readMetrics, readMetricsFile } from './read-metrics.ts';
export {
  type LogPosition,
  openRunLog,
  type SaveOptions,
  saveCheckpoint,
} from './save-checkpoint.ts';
export { readSchedule, type StoredSchedule, writeSchedule } from './schedule.ts';
export { FORMAT_VERSION } from './sealed-json.ts';
export { initialState, type RunState, readState, totalSteps, writeState } from './state.ts';
export {
  type Damage,
  damageOf,
  describeDamage,
  needed,
  oneLine,
  type Read,
  StoreError,
  storeError,
} from './store-error.ts';
export {
  type KeptTrajectory,
  listTrajectorySets,
  readTrajectorySet,
  trajectoriesOf,
  type WrittenTrajectory,
  writeTrajectorySet,
} from './trajectory-set.ts';
