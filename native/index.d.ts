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

/** Rates per second. */
export interface Peaks {
  /** Floating-point operations of multiply-adds, by the storage type of what is multiplied. */
  readonly f32: number;
  readonly bf16: number;
  /** Bytes of memory read front to back. */
  readonly readBytes: number;
}

/** Kernels of one instruction set with their own threads, memory and queue. */
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
   * Checks one launch against what `arguments()` holds, and queues it; a Runtime that does not queue
   * runs it to its end.
   *
   * What a queued kernel refuses is thrown by the next `read` or `synchronize`, and by those that
   * were already waiting behind it; launches queued up to then are skipped.
   *
   * @param storage  of the operands whose type the signature leaves open: 0 f32, 1 bf16
   * @throws TypeError or RangeError if the launch does not fit the kernel; Error if the kernel
   *   refuses, where launches are not queued
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
  /** The id of memory whose first byte is 64-byte aligned; uninitialised, alive until `release`. */
  allocate(sizeBytes: number): number;
  /** Gives memory back once what is queued has run; its id may be given out again at once. */
  release(id: number): void;
  /** Copies bytes to memory after everything queued that touches it; `bytes` is free at once. */
  write(id: number, offset: number, bytes: ArrayBufferView): void;
  /**
   * A copy of some bytes as they are once everything queued has run: at once if nothing is under way.
   *
   * @throws Error, or rejects with one, if a launch was refused; with `code` `closed` after `close()`
   */
  read(id: number, offset: number, length: number): ArrayBuffer | Promise<ArrayBuffer>;
  /** Waits until everything queued has run; nothing to wait for is `undefined`. Throws as `read`. */
  synchronize(): undefined | Promise<undefined>;
  /** Runs empty items on all threads and counts how often each ran; throws in item `failAt` ≥ 0. */
  probeThreads(items: number, failAt: number): Int32Array;
  /**
   * Measures what this instruction set and this many threads reach at most, in about 0.2 s.
   *
   * @param sizeBytes  memory to read front to back, all threads together
   */
  probePeak(sizeBytes: number): Peaks;
  /** Workspace that the latest launch took. */
  workspaceBytes(): number;
  /** Fills workspaces with NaN before kernels get them, to catch reads of what was never written. */
  poisonScratch(on: boolean): void;
  /** Work estimated to take less than this stays on the calling thread. Default 20. */
  setHandOver(microseconds: number): void;
  /**
   * Waits for the kernel under way, drops what is queued and frees everything; whoever waits gets an
   * error. The object is unusable afterwards.
   */
  close(): void;
}

export interface Addon {
  /** `isQueued`: launches run on a thread of their own, which is one of the `threads`. */
  readonly Runtime: new (
    instructionSet: InstructionSet,
    threads: number,
    isQueued: boolean,
  ) => Runtime;
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

/**
 * Opens the addon at `path`; never throws. Without one: what the variable `SACCADE_ADDON` names, such
 * as a build with a sanitizer, or else what the build made.
 */
export declare function loadAddon(path?: string): LoadResult;
