export {
  allocate,
  bytesOf,
  convert,
  type DType,
  decode,
  encode,
  fromBf16Bits,
  fromF16Bits,
  type TypedArray,
  toBf16Bits,
  toF16Bits,
  viewBytes,
} from './dtype.ts';
export {
  ConfigError,
  DataError,
  DtypeError,
  MissingError,
  messageOf,
  SaccadeError,
  ShapeError,
  StateError,
  UnsupportedError,
} from './errors.ts';
export { type EventSink, joinSinks, type RunEvent } from './events.ts';
export { nearestName } from './nearest-name.ts';
export { importOptional, missingPackage } from './optional-package.ts';
export {
  groupsOf,
  type Profile,
  type ProfiledSpan,
  type ProfileGroup,
  type ProfilePart,
  type SpanKind,
  secondsOf,
  stageOf,
} from './profile.ts';
export { defineRegistry, type Registry } from './registry.ts';
export {
  hashString,
  philox4x32,
  type Random,
  randomAt,
  unitOpen,
  type Words2,
  type Words4,
} from './rng.ts';
export { expectLength, formatShape, type Shape, sameShape, sizeOf } from './shape.ts';
export { timed } from './timed.ts';
export {
  isTracing,
  type StageOptions,
  span,
  spanElsewhere,
  stage,
  startTrace,
  type Trace,
  type TraceOptions,
} from './trace.ts';
export { isUniform } from './uniform.ts';
