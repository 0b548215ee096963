/**
 * The interface of a WebGPU kernel: an op's launch becomes a list of passes, each one dispatch of a
 * generated shader. A kernel is a pure function; it allocates nothing and calls no WebGPU.
 */
import type { Shader } from './shader.ts';

/** What an array is stored as. `f16` only on devices with the feature `shader-f16`. */
export type Storage = 'f32' | 'f16' | 'i32';

/** An operand of the launch or scratch memory: something a pass can bind. Opaque but for its size. */
export interface GpuArray {
  readonly storage: Storage;
  /** Number of elements. */
  readonly length: number;
  /** True if the first element lies on a multiple of four elements, so that `vec4` views fit. */
  readonly isAligned: boolean;
  /** Elements [start, end) of it. Bound alone, so that an array may exceed the binding limit. */
  slice(start: number, end: number): GpuArray;
}

/** What a device offers, as far as kernels choose by it. */
export interface KernelLimits {
  /** Bytes of workgroup memory: at least 16384. */
  readonly workgroupBytes: number;
  /** Threads of a workgroup at most: at least 128. */
  readonly workgroupThreads: number;
  /** Bytes of one array in a pass at most; bigger ones are bound in slices, which begin anywhere. */
  readonly bindingBytes: number;
  /** Workgroups along one axis at most: at least 65535. */
  readonly workgroupsPerAxis: number;
  /** Storage arrays of one pass at most, the record of failures included: at least 8. */
  readonly arraysPerPass: number;
  /** True with the feature `subgroups`; then the sizes are bounds of `subgroup_size`. */
  readonly hasSubgroups: boolean;
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  /** True where threads run on a CPU, some at a time: few that do much each are best there. */
  readonly isSoftware: boolean;
  /** Rows of the tiles that products are made in; absent where kernels choose by the shape. */
  readonly tileRows?: TileRows | undefined;
  /** Matrix units to use for products of float16; absent where kernels do without. */
  readonly matrixUnit?: MatrixUnit | undefined;
}

/**
 * Products [size, size] of float16 with float32 sums by a subgroup of at most 32 threads, the
 * experimental feature `chromium-experimental-subgroup-matrix`; with 32 KiB of workgroup memory.
 */
export interface MatrixUnit {
  readonly size: 8 | 16;
}

/** Rows that a tile is for, at most. */
export type TileRows = 1 | 4 | 8 | 16 | 64;

/** One launch, as a kernel sees it. */
export interface KernelCall {
  /** Axis lengths by the op's letters. */
  readonly dims: Readonly<Record<string, number>>;
  readonly scalars: Readonly<Record<string, number>>;
  /**
   * By the op's names; gradients are `d` + the capitalised name: `dY`, `dHidden`. Absent where the
   * launch has none: an optional input, an output gradient that is zero, an unwanted gradient.
   */
  readonly arrays: Readonly<Record<string, GpuArray | undefined>>;
  /** Type of the operands the op leaves open. */
  readonly storage: 'f32' | 'f16';
  readonly limits: KernelLimits;
  /** Uninitialised memory until the launch has run. Its old contents may be NaN. */
  scratch(storage: Storage, length: number): GpuArray;
}

/** One dispatch. Passes run in order; each sees what those before it wrote. */
export interface Pass {
  readonly shader: Shader;
  /** By the names the shader declares. No two may overlap if one of them is written. */
  readonly arrays: Readonly<Record<string, GpuArray>>;
  /** By the names the shader declares. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Workgroups along x, y and z; a pass with a zero among them is left out. */
  readonly workgroups: readonly [number, number, number];
}

export interface WebGpuKernel {
  /** The op's id. */
  readonly op: string;
  /** The signature of the op it was written for, as in `kernels/include/kernel.h`. */
  readonly signature: string;
  /**
   * @throws RangeError  one sentence on dims or scalars that the kernel cannot take; it becomes a
   *   DataError of the op
   */
  readonly forward: (call: KernelCall) => readonly Pass[];
  readonly backward?: (call: KernelCall) => readonly Pass[];
}
