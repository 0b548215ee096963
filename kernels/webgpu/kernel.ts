/**
 * The interface of a WebGPU kernel: an op's launch becomes a list of passes, each one dispatch of a
 * generated shader. A kernel is a pure function; it allocates nothing and calls no WebGPU.
 */
import type { Shader } from './shader.ts';

/** Storage type of an array. `f16` only on devices with the feature `shader-f16`. */
export type Storage = 'f32' | 'f16' | 'i32';

/** An array that a pass can bind: an operand of the launch, or scratch memory. */
export interface GpuArray {
  readonly storage: Storage;
  /** Number of elements. */
  readonly length: number;
  /** True if the first element lies on a multiple of four elements, so that `vec4` views fit. */
  readonly isAligned: boolean;
  /** Elements [start, end) of it. Bound alone, so that an array may exceed the binding limit. */
  slice(start: number, end: number): GpuArray;
}

/** The limits and features of a device that kernels depend on. */
export interface KernelLimits {
  /** Bytes of workgroup memory; at least 16384. */
  readonly workgroupBytes: number;
  /** Most threads of a workgroup; at least 128. */
  readonly workgroupThreads: number;
  /** Most bytes of one array in a pass. Larger arrays are bound in slices, which begin anywhere. */
  readonly bindingBytes: number;
  /** Most workgroups along one axis; at least 65535. */
  readonly workgroupsPerAxis: number;
  /** Most storage arrays of one pass, including the record of failures; at least 8. */
  readonly arraysPerPass: number;
  /** True with the feature `subgroups`; the two sizes then bound `subgroup_size`. */
  readonly hasSubgroups: boolean;
  readonly subgroupMinSize: number;
  readonly subgroupMaxSize: number;
  /** True if threads run on a CPU, where few threads with much work each are fastest. */
  readonly isSoftware: boolean;
  /** Rows of a product's tiles; absent if kernels choose by the shape. */
  readonly tileRows?: TileRows | undefined;
  /** Matrix units to use for products of float16; absent if there are none. */
  readonly matrixUnit?: MatrixUnit | undefined;
}

/**
 * A unit that multiplies [size, size] matrices of float16 with float32 sums, by a subgroup of at
 * most 32 threads: the experimental feature `chromium-experimental-subgroup-matrix`; with 32 KiB of
 * workgroup memory.
 */
export interface MatrixUnit {
  readonly size: 8 | 16;
}

/** Most rows that a tile covers. */
export type TileRows = 1 | 4 | 8 | 16 | 64;

/** One launch, as a kernel sees it. */
export interface KernelCall {
  /** Axis lengths by the op's letters. */
  readonly dims: Readonly<Record<string, number>>;
  readonly scalars: Readonly<Record<string, number>>;
  /**
   * By the op's names; gradients are `d` + the capitalized name: `dY`, `dHidden`. Absent if the
   * launch has none: an optional input, an output gradient that is zero, a gradient not requested.
   */
  readonly arrays: Readonly<Record<string, GpuArray | undefined>>;
  /** Storage type of the operands that are neither always f32 nor i32. */
  readonly storage: 'f32' | 'f16';
  readonly limits: KernelLimits;
  /** Uninitialized memory that is valid until the launch has run. Its contents may be NaN. */
  scratch(storage: Storage, length: number): GpuArray;
}

/** One dispatch. Passes run in order; each sees the writes of those before it. */
export interface Pass {
  readonly shader: Shader;
  /** Arrays by the names that the shader declares. No two may overlap if one of them is written. */
  readonly arrays: Readonly<Record<string, GpuArray>>;
  /** Numbers by the names that the shader declares. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Workgroups along x, y and z; a pass with a zero among them is left out. */
  readonly workgroups: readonly [number, number, number];
}

/**
 * A kernel of one op: pure functions from a launch to its passes. A kernel allocates nothing but
 * scratch memory and calls no WebGPU.
 */
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
