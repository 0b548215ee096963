export { type NativeAvailable, type NativeUnavailable, probeNative } from './load.ts';
export { type NativeBackendOptions, nativeBackend } from './native-backend.ts';
