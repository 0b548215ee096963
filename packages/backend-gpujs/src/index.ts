export { type GpuJsBackendOptions, gpujsBackend } from './gpujs-backend.ts';
export type { GpuJsMode } from './load.ts';
