export type { InstructionSet, Peaks } from '@saccade/native';
export { type CudaBackendOptions, cudaBackend, describeDevice } from './cuda-backend.ts';
export { CudaError } from './cuda-error.ts';
export { type NativeAvailable, type NativeUnavailable, probeNative } from './load.ts';
export { measurePeaks, type PeakOptions } from './measure-peaks.ts';
export { type NativeBackendOptions, nativeBackend } from './native-backend.ts';
export {
  type CudaAvailable,
  type CudaDevice,
  type CudaUnavailable,
  type ProbeCudaOptions,
  probeCuda,
} from './probe-cuda.ts';
