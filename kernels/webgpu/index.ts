export { webGpuKernels } from './catalog.ts';
export type {
  GpuArray,
  KernelCall,
  KernelLimits,
  Pass,
  Storage,
  WebGpuKernel,
} from './kernel.ts';
export {
  type ArrayKind,
  type ArrayUse,
  type NumberKind,
  type Shader,
  type ShaderOptions,
  shader,
} from './shader.ts';
