export type { CallLimits } from './client/model-calls.ts';
export {
  type Capabilities,
  type LoraRequest,
  type ModelRequest,
  openTinkerClient,
  TinkerClient,
  type TinkerClientOptions,
} from './client/tinker-client.ts';
export {
  type AdamParams,
  type DatumInput,
  type ForestRequest,
  type ForestScores,
  plainAdam,
  TinkerModel,
} from './client/tinker-model.ts';
export type { TinkerConnection } from './client/transport.ts';
export { type MeasureOptions, measureServer } from './measure/measure-server.ts';
export {
  describeMeasurement,
  type Finding,
  type Measurement,
  type Verdict,
} from './measure/measurement.ts';
export { remote } from './model-unit.ts';
export { type CheckpointRecord, hasRecord, readRecord } from './remote/checkpoint-record.ts';
export type { LinearPath } from './remote/gradient-path.ts';
export {
  openRemoteLearner,
  RemoteLearner,
  type RemoteLearnerOptions,
} from './remote/remote-learner.ts';
export { type TinkerCategory, type TinkerCode, TinkerError } from './wire/tinker-error.ts';
