export { webGpuKernels } from './catalog.ts';
export type {
  GpuArray,
  KernelCall,
  KernelLimits,
  MatrixUnit,
  Pass,
  Storage,
  TileRows,
  WebGpuKernel,
} from './kernel.ts';
export { TILE_ROWS } from './parts/tiles.ts';
export {
  type ArrayKind,
  type ArrayUse,
  type NumberKind,
  type Shader,
  type ShaderOptions,
  shader,
} from './shader.ts';
