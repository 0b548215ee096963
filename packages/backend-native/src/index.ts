export type { InstructionSet, Peaks } from '@saccade/native';
export { type NativeAvailable, type NativeUnavailable, probeNative } from './load.ts';
export { measurePeaks, type PeakOptions } from './measure-peaks.ts';
export { type NativeBackendOptions, nativeBackend } from './native-backend.ts';
