/** The WebGPU backend as a unit: a choice of a run by name. */
import { defineBackend } from '@saccade/ops/unit';
import { z } from 'zod';

/** The unit of `webgpuBackend`, on the default adapter: the browser's, or Dawn's in Node. */
export const webgpu = defineBackend({
  name: 'webgpu',
  description: 'WGSL kernels on any GPU: navigator.gpu in browsers, Dawn in Node.',
  settings: z.strictObject({}),
  open: async () => (await import('./webgpu-backend.ts')).webgpuBackend(),
});
