export { MachineError, QueueFullError, SandboxError } from './errors.ts';
export { defaultForbidden, defaultPrelude } from './forbidden.ts';
export {
  type Guarantees,
  type IsolationReport,
  type MissingGuarantee,
  RequirementError,
  type Requirements,
} from './guarantees.ts';
export type { MachineReport, MicroVmOptions } from './isolation.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { LocalSandbox, type SandboxStats } from './local-sandbox.ts';
export { openSandbox, type SandboxOptions } from './open-sandbox.ts';
export type { CapturedImage, CodeError, Outcome, OutcomeKind, Repair } from './outcome.ts';
export { outcomeFromJson, outcomeSchema, outcomeToJson } from './outcome-json.ts';
export { probeSandbox, type SandboxProbe, type TierProbe } from './probe.ts';
export {
  ensurePython,
  type PythonEnvironment,
  type PythonEnvironmentOptions,
} from './python-environment.ts';
export { inspectPython, type PythonInterpreter } from './python-interpreter.ts';
export type { HostReport, HostState } from './remote/host.ts';
export {
  openRemoteSandbox,
  RemoteSandbox,
  type RemoteSandboxOptions,
} from './remote/remote-sandbox.ts';
export {
  runOnSandboxFusion,
  type SingleResult,
  type SingleRun,
} from './remote/sandbox-fusion-client.ts';
export { type KnownSandbox, sandboxes } from './sandboxes.ts';
export type { Recycle } from './server-pool.ts';
export type {
  CaptureOptions,
  ExecuteOptions,
  ImageFilter,
  InputImage,
  InputVideo,
  RepairOptions,
  Sandbox,
  Session,
  SessionMode,
  SessionOptions,
} from './session.ts';
export { type LocalTier, localTiers } from './tiers.ts';
export { defineSandbox, type SandboxContext, type SandboxUnit } from './units/sandbox-unit.ts';
