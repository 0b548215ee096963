export { probeWebGpu, type WebGpuAvailable, type WebGpuUnavailable } from './find-gpu.ts';
export { type WebGpuBackendOptions, webgpuBackend } from './webgpu-backend.ts';
