/** The native addon as JavaScript sees it: memory, threads, devices and launches; no op. */

/**
 * `avx512pairs` is `avx512bf16` with its dot product put together from other instructions: slow,
 * never chosen by itself, and there so that the code for that instruction is tested without it.
 */
export type InstructionSet = 'generic' | 'avx2' | 'avx512' | 'avx512bf16' | 'avx512pairs';

/** What activations and weights of a launch are stored as; results of sums are float32 in all. */
export type Storage = 'f32' | 'bf16' | 'f16';

/** A kernel of the addon or of a library it opens; its place in the list is the index that `launch` takes. */
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

/** Kernels with their own memory and queue, on the processor or on a device. */
export interface KernelRuntime {
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
   * were already waiting behind it. What launches queued up to then write is undefined.
   *
   * @param storage  of the operands whose type the signature leaves open: 0 f32, 1 bf16, 2 f16
   * @throws TypeError or RangeError if the launch does not fit the kernel; Error if the kernel
   *   refuses before anything is queued; DriverError
   */
  launch(
    kernel: number,
    backward: boolean,
    storage: 0 | 1 | 2,
    operandCount: number,
    dimCount: number,
    scalarCount: number,
  ): void;
  kernels(): KernelInfo[];
  /**
   * The id of memory whose first byte is 64-byte aligned (256 on a device); uninitialised, alive until
   * `release`.
   */
  allocate(sizeBytes: number): number;
  /** Gives memory back once what is queued has run; its id may be given out again at once. */
  release(id: number): void;
  /** Copies bytes to memory after everything queued that touches it; `bytes` is free at once. */
  write(id: number, offset: number, bytes: ArrayBufferView): void;
  /**
   * A copy of some bytes as they are once everything queued has run: at once, from host memory, if
   * nothing is under way.
   *
   * @throws Error, or rejects with one, if a launch was refused; with `code` `closed` after `close()`
   */
  read(id: number, offset: number, length: number): ArrayBuffer | Promise<ArrayBuffer>;
  /** Waits until everything queued has run; nothing to wait for is `undefined`. Throws as `read`. */
  synchronize(): undefined | Promise<undefined>;
  /** Workspace that the latest launch took. */
  workspaceBytes(): number;
  /** Fills workspaces with NaN before kernels get them, to catch reads of what was never written. */
  poisonScratch(on: boolean): void;
  /**
   * Waits for the kernel under way, drops what is queued and frees everything; whoever waits gets an
   * error. The object is unusable afterwards.
   */
  close(): void;
}

/** Kernels of one instruction set with their own threads. */
export interface Runtime extends KernelRuntime {
  /** Runs empty items on all threads and counts how often each ran; throws in item `failAt` ≥ 0. */
  probeThreads(items: number, failAt: number): Int32Array;
  /**
   * Measures what this instruction set and this many threads reach at most, in about 0.2 s.
   *
   * @param sizeBytes  memory to read front to back, all threads together
   */
  probePeak(sizeBytes: number): Peaks;
  /** Work estimated to take less than this stays on the calling thread. Default 20. */
  setHandOver(microseconds: number): void;
}

/** Kernels of a device library on one device; its launches are always queued. */
export type DeviceRuntime = KernelRuntime;

/** What a driver said: an error of its own, or that the device is lost. */
export interface DriverError extends Error {
  /** The driver's name of it: `cudaErrorMemoryAllocation`. */
  readonly driver: string;
  /** Nothing runs on the device any more. */
  readonly isLost: boolean;
}

/** A device that a library's driver offers. */
export interface DeviceInfo {
  readonly name: string;
  /** 8 or 9, and its revision behind the point. */
  readonly computeCapability: number;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  /** Why it cannot be opened, in a sentence. */
  readonly obstacle?: string;
}

/** Which library of device kernels: for CUDA, or the same kernels run on the CPU, for tests. */
export type DeviceLibrary = 'cuda' | 'cuda-emulated';

export interface Addon {
  /** `isQueued`: launches run on a thread of their own, which is one of the `threads`. */
  readonly Runtime: new (
    instructionSet: InstructionSet,
    threads: number,
    isQueued: boolean,
  ) => Runtime;
  /** Opens a device of the library at `path`. Throws a DriverError, or the loader's words. */
  readonly DeviceRuntime: new (
    path: string,
    device: number,
  ) => DeviceRuntime;
  /** What a library holds and runs on. Throws a DriverError, or the loader's words. */
  probeDevices(path: string): {
    readonly kernels: readonly KernelInfo[];
    readonly devices: readonly DeviceInfo[];
  };
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

/** Where a library of device kernels lies, if it was built: beside the addon at `path`. */
export declare function libraryPath(library: DeviceLibrary, path?: string): string;

/**
 * Opens the addon at `path`; never throws. Without one: what the variable `SACCADE_ADDON` names, such
 * as a build with a sanitizer, or else what the build made.
 */
export declare function loadAddon(path?: string): LoadResult;
