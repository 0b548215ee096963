/**
 * The interface of a gpu.js kernel: host arrays in, host arrays out, and the loops of one output
 * element as text.
 */
import type { Dims, Scalars } from '@saccade/ops';

/**
 * The result that a stage passes to the next: a texture on a GPU, nested arrays elsewhere. Opaque.
 */
export interface StageResult {
  readonly handle: unknown;
}

/** An argument of a stage: a flat array read as [z][y][x] (or [y][x], [x]), a number, a result. */
export type StageArgument = { readonly data: Float32Array; readonly shape: readonly number[] };

/**
 * One gpu.js kernel. `source` is the text of a function: bundlers rewrite functions, and gpu.js
 * reads their text.
 */
export interface Stage {
  /** The code that gpu.js compiles; `this.constants` holds the constants. */
  readonly source: string;
  /** Threads along x, y and z. */
  readonly output: readonly number[];
  readonly constants: Readonly<Record<string, number>>;
}

/** Runs stages. Compiled ones are kept by source, output and constants. */
export interface StageRunner {
  /** Keeps the result on the device for later stages. Call `release` after the last of them. */
  keep(stage: Stage, args: readonly (StageArgument | StageResult | number)[]): StageResult;
  release(result: StageResult): void;
  /** The result as one flat array, x fastest; a stage that returns four numbers gives four each. */
  read(stage: Stage, args: readonly (StageArgument | StageResult | number)[]): Float32Array;
}

interface GpuJsCall {
  readonly dims: Dims;
  readonly scalars: Scalars;
  /** Float operands of the launch by name. */
  readonly floats: Readonly<Record<string, Float32Array>>;
  /** Index operands by name. */
  readonly indices: Readonly<Record<string, Int32Array>>;
  readonly stages: StageRunner;
}

export interface GpuJsKernel {
  /** The op's id. */
  readonly op: string;
  /** The signature of the op it was written for, in the grammar of kernels/include/kernel.h. */
  readonly signature: string;
  /** One sentence that names what is too large and the limit, or `undefined`. */
  readonly refuse: (dims: Dims) => string | undefined;
  /** @throws RangeError if the data are invalid: one sentence, one remedy */
  readonly forward: (call: GpuJsCall) => void;
}

/** @throws RangeError if there is no such operand, which a launch that fits its op always has */
export function named<T>(arrays: Readonly<Record<string, T>>, name: string): T {
  const array = arrays[name];
  if (array === undefined) throw new RangeError(`the launch has no ${name}.`);
  return array;
}
