/** Runs stages through gpu.js and caches the compiled ones. */
import { UnsupportedError } from '@saccade/core';
import type { IKernelRunShortcut } from 'gpu.js';
import type { Stage, StageArgument, StageResult, StageRunner } from './kernel.ts';
import type { KernelState, LoadedGpuJs } from './load.ts';

/** Number of cached stages; each is compiled for one shape. */
const COMPILED_MOST = 32;

interface Texture {
  delete(): void;
}

export class GpuJsStages implements StageRunner {
  readonly #library: LoadedGpuJs;
  /** By source, output and constants; the most recently used is last. */
  readonly #compiled = new Map<string, IKernelRunShortcut>();

  constructor(library: LoadedGpuJs) {
    this.#library = library;
  }

  keep(stage: Stage, args: readonly (StageArgument | StageResult | number)[]): StageResult {
    return { handle: this.#run(stage, true, args) };
  }

  release({ handle }: StageResult): void {
    if (typeof handle === 'object' && handle !== null && 'delete' in handle) {
      (handle as Texture).delete();
    }
  }

  read(stage: Stage, args: readonly (StageArgument | StageResult | number)[]): Float32Array {
    const result = this.#run(stage, false, args);
    const flat = new Float32Array(stage.output.reduce((a, b) => a * b) * valuesEach(result, stage));
    flatten(result, flat, 0);
    return flat;
  }

  /** Releases the compiled stages and the WebGL context. */
  dispose(): void {
    this.#compiled.clear();
    void this.#library.gpu.destroy();
  }

  #run(
    stage: Stage,
    isKept: boolean,
    args: readonly (StageArgument | StageResult | number)[],
  ): unknown {
    const kernel = this.#compile(stage, isKept);
    const given = args.map((argument) => {
      if (typeof argument === 'number') return argument;
      if ('handle' in argument) return argument.handle;
      const { data, shape } = argument;
      if (shape.length === 1) return data;
      const lengths = [...shape].reverse() as [number, number, number];
      // The types of gpu.js require number[]; its code accepts anything with a length.
      return new this.#library.Input(data as unknown as number[], lengths);
    });
    const result: unknown = kernel(...(given as Parameters<typeof kernel>));
    // gpu.js falls back to JavaScript if a kernel does not compile; `description` would be wrong.
    const { fallbackReason } = kernel as unknown as KernelState;
    if (fallbackReason) {
      throw new UnsupportedError(
        `gpu.js gave up its mode ${this.#library.mode}: ${fallbackReason} Pass mode "cpu".`,
      );
    }
    return result;
  }

  #compile({ source, output, constants }: Stage, isKept: boolean): IKernelRunShortcut {
    const name = JSON.stringify([source, output, constants, isKept]);
    let kernel = this.#compiled.get(name);
    this.#compiled.delete(name);
    if (kernel === undefined) {
      kernel = this.#library.gpu.createKernel(source, {
        output: [...output],
        constants: { ...constants },
        precision: 'single',
        pipeline: isKept,
        immutable: isKept,
      });
      // gpu.js ends loops without a literal bound after this many iterations; its default is 1000.
      kernel.setLoopMaxIterations(Math.max(1, ...Object.values(constants)));
    }
    this.#compiled.set(name, kernel);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > COMPILED_MOST && oldest !== undefined) {
      this.#compiled.get(oldest)?.destroy();
      this.#compiled.delete(oldest);
    }
    return kernel;
  }
}

/** Numbers per thread: 1, or more where the innermost arrays lie deeper than the output's axes. */
function valuesEach(result: unknown, { output }: Stage): number {
  let inner = result;
  for (let i = 0; i < output.length; i++) inner = (inner as ArrayLike<unknown>)[0];
  return typeof inner === 'number' ? 1 : (inner as ArrayLike<number>).length;
}

/** Copies nested arrays in order; returns the index behind the last number. */
function flatten(from: unknown, to: Float32Array, start: number): number {
  if (from instanceof Float32Array) {
    to.set(from, start);
    return start + from.length;
  }
  let place = start;
  for (const part of from as readonly unknown[]) place = flatten(part, to, place);
  return place;
}
