/** Every WebGPU kernel, one line each. */
import type { WebGpuKernel } from './kernel.ts';

export const webGpuKernels: readonly WebGpuKernel[] = [];
