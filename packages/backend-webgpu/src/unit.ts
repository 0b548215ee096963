/** The WebGPU backend as a run can choose it by name. */
import { defineBackend } from '@saccade/ops/unit';
import { z } from 'zod';
import { webgpuBackend } from './webgpu-backend.ts';

export const webgpu = defineBackend({
  name: 'webgpu',
  description: 'WGSL kernels on any GPU: navigator.gpu in browsers, Dawn in Node.',
  settings: z.strictObject({}),
  open: () => webgpuBackend(),
});
