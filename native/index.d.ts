/** The native addon as JavaScript sees it: memory, threads and launches; no op. */

/**
 * `avx512pairs` is `avx512bf16` with its dot product put together from other instructions: slow,
 * never chosen by itself, and there so that the code for that instruction is tested without it.
 */
export type InstructionSet = 'generic' | 'avx2' | 'avx512' | 'avx512bf16' | 'avx512pairs';

/** What activations and weights of a launch are stored as; results of sums are float32 in both. */
export type Storage = 'f32' | 'bf16';

/** A kernel built into the addon; its place in the list is the index that `launch` takes. */
export interface KernelInfo {
  readonly id: string;
  /** Operands, axes and scalars, in the grammar of kernels/include/kernel.h. */
  readonly signature: string;
  /** The storage types it runs forward in. */
  readonly forward: readonly Storage[];
  /** And backward; empty where it has no backward. */
  readonly backward: readonly Storage[];
}

/** Memory that launches name by its id. */
export interface Allocation {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Kernels of one instruction set with their own threads and scratch memory. */
export interface Runtime {
  /**
   * The array through which launches pass their numbers; the same one for the Runtime's life.
   *
   * It holds, for each operand in the kernel's order, the id of its memory (-1 where absent), its
   * offset and its length in bytes; then the dims, one per axis letter in order of first
   * appearance; then the scalars.
   */
  arguments(): Float64Array;
  /**
   * Runs one kernel on what `arguments()` holds and returns when it is done.
   *
   * @param storage  of the operands whose type the signature leaves open: 0 f32, 1 bf16
   * @throws TypeError or RangeError if the launch does not fit the kernel, Error if it refuses
   */
  launch(
    kernel: number,
    backward: boolean,
    storage: 0 | 1,
    operandCount: number,
    dimCount: number,
    scalarCount: number,
  ): void;
  kernels(): KernelInfo[];
  /** Memory whose first byte is 64-byte aligned; alive until `release`. */
  allocate(sizeBytes: number): Allocation;
  /** Gives memory back; its id may be given out again. */
  release(id: number): void;
  /** Runs empty items on all threads and counts how often each ran; throws in item `failAt` ≥ 0. */
  probeThreads(items: number, failAt: number): Int32Array;
  /** Fills workspaces with NaN before kernels get them, to catch reads of what was never written. */
  poisonScratch(on: boolean): void;
  /** Work estimated to take less than this stays on the calling thread. Default 20. */
  setHandOver(microseconds: number): void;
  /** Stops the threads and frees the scratch memory; the object is unusable afterwards. */
  close(): void;
}

export interface Addon {
  readonly Runtime: new (instructionSet: InstructionSet, threads: number) => Runtime;
  /** Built in and runnable on this processor, slowest first. */
  usableInstructionSets(): InstructionSet[];
  /** Runnable here, for tests only. */
  emulatedInstructionSets(): InstructionSet[];
}

export type LoadResult =
  | { readonly ok: true; readonly path: string; readonly addon: Addon }
  | {
      readonly ok: false;
      readonly path: string;
      readonly reason: 'not-built' | 'wrong-platform' | 'load-failed';
      /** The cause in the loader's words. */
      readonly detail: string;
    };

/** Where the build puts the addon. */
export declare function addonPath(): string;

/** Opens the addon at `path`; never throws. */
export declare function loadAddon(path?: string): LoadResult;
