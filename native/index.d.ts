/** The interface of the native addon: memory, threads, devices and launches, but no op. */

/**
 * Instruction sets that kernels are compiled for. `avx512pairs` is `avx512bf16` with its dot
 * product emulated by other instructions. It is slow and never chosen by default; with it, the bf16
 * code is tested on processors without that instruction.
 */
export type InstructionSet =
  | 'generic'
  | 'avx2'
  | 'avx2vnni'
  | 'avx512'
  | 'avx512bf16'
  | 'avx512amx'
  | 'avx512pairs';

/** Storage type of a launch's activations and weights. Sums are float32 in all of them. */
export type Storage = 'f32' | 'bf16' | 'f16';

/**
 * A kernel of the addon or of a device library. Its index in the list is the one `launch` takes.
 */
export interface KernelInfo {
  /** Id of the op that it runs. */
  readonly id: string;
  /** Operands, axes and scalars, in the grammar of kernels/include/kernel.h. */
  readonly signature: string;
  /** Storage types of its forward. */
  readonly forward: readonly Storage[];
  /** Storage types of its backward; empty if it has none. */
  readonly backward: readonly Storage[];
}

/** Peak rates per second, measured by `probePeak`. */
export interface Peaks {
  /** Floating-point operations of multiply-adds, by the storage type of the factors. */
  readonly f32: number;
  readonly bf16: number;
  /** Bytes of memory read front to back. */
  readonly readBytes: number;
}

/** Kernels with their own memory and queue, on the CPU or on a device. */
export interface KernelRuntime {
  /**
   * The array through which launches pass their numbers; the same one for the runtime's life.
   *
   * It holds, for each operand in the kernel's order, the id of its memory (-1 where absent), its
   * offset and its length in bytes; then the dims, one per axis letter in order of first
   * appearance; then the scalars.
   */
  arguments(): Float64Array;
  /**
   * Checks one launch with the numbers in `arguments()`, and queues it. A runtime that does not
   * queue runs it to its end.
   *
   * An error of a queued kernel is thrown by the next `read` or `synchronize`, and by those that
   * were already waiting behind it. The outputs of launches queued up to then are undefined.
   *
   * @param storage  type of the operands whose type the signature leaves open: 0 f32, 1 bf16, 2 f16
   * @throws TypeError or RangeError if the launch does not fit the kernel; Error if the kernel
   *   refuses it before anything is queued; DriverError if the driver fails
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
   * Allocates uninitialized memory, aligned to 64 bytes (256 on a device), and returns its id. It
   * is valid until `release`.
   */
  allocate(sizeBytes: number): number;
  /** Returns memory once the queued work has run. Its id may be reused at once. */
  release(id: number): void;
  /**
   * Copies bytes to memory after everything queued that touches it; `bytes` may be reused on
   * return.
   */
  write(id: number, offset: number, bytes: ArrayBufferView): void;
  /**
   * Copies bytes once everything queued has run. It returns the copy directly if the memory is on
   * the host and nothing is running, else a promise.
   *
   * @throws Error, or rejects with one, if a launch was refused; with `code` `closed` after `close()`
   */
  read(id: number, offset: number, length: number): ArrayBuffer | Promise<ArrayBuffer>;
  /**
   * Waits until everything queued has run; `undefined` if nothing is queued. Throws like `read`.
   */
  synchronize(): undefined | Promise<undefined>;
  /** Bytes of workspace that the latest launch used. */
  workspaceBytes(): number;
  /** Fills workspaces with NaN before kernels get them, to catch reads of uninitialized memory. */
  poisonScratch(on: boolean): void;
  /**
   * Waits for the running kernel, drops queued launches and frees everything. Pending waits get an
   * error. The object is unusable afterwards.
   */
  close(): void;
}

/** Kernels of one instruction set with their own threads. */
export interface Runtime extends KernelRuntime {
  /** Runs empty items on all threads and counts how often each ran; throws in item `failAt` ≥ 0. */
  probeThreads(items: number, failAt: number): Int32Array;
  /**
   * Measures the peak rates of this instruction set and number of threads, in about 0.2 s.
   *
   * @param sizeBytes  memory to read front to back, all threads together
   */
  probePeak(sizeBytes: number): Peaks;
  /** Work estimated to take less than this, in µs, stays on the calling thread. Default: 4 while others spin, else 20. */
  setHandOver(microseconds: number): void;
}

/** Kernels of a device library on one device; its launches are always queued. */
export type DeviceRuntime = KernelRuntime;

/** An error of the driver, or the loss of the device. */
export interface DriverError extends Error {
  /** The driver's name of the error: `cudaErrorMemoryAllocation`. */
  readonly driver: string;
  /** True if nothing runs on the device anymore. */
  readonly isLost: boolean;
}

/** A device that a library's driver reports. */
export interface DeviceInfo {
  readonly name: string;
  /** CUDA's compute capability, for example 9.0. */
  readonly computeCapability: number;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  /** The reason why it cannot be opened, in a sentence; absent if it can. */
  readonly obstacle?: string;
}

/** A library of device kernels: for CUDA, or the same kernels emulated on the CPU, for tests. */
export type DeviceLibrary = 'cuda' | 'cuda-emulated';

/** The loaded addon. */
export interface Addon {
  /** With `isQueued`, launches run in the background on one of the `threads`. */
  readonly Runtime: new (
    instructionSet: InstructionSet,
    threads: number,
    isQueued: boolean,
  ) => Runtime;
  /** Opens a device of the library at `path`. Throws a DriverError, or the loader's error. */
  readonly DeviceRuntime: new (
    path: string,
    device: number,
  ) => DeviceRuntime;
  /** The kernels of a library and its devices. Throws a DriverError, or the loader's error. */
  probeDevices(path: string): {
    readonly kernels: readonly KernelInfo[];
    readonly devices: readonly DeviceInfo[];
  };
  /** Instruction sets that are built in and run on this processor, slowest first. */
  usableInstructionSets(): InstructionSet[];
  /** Instruction sets that run here in emulation, for tests only. */
  emulatedInstructionSets(): InstructionSet[];
}

/** The result of `loadAddon`: the addon, or the reason why it cannot be loaded. */
export type LoadResult =
  | { readonly ok: true; readonly path: string; readonly addon: Addon }
  | {
      readonly ok: false;
      readonly path: string;
      readonly reason: 'not-built' | 'wrong-platform' | 'other-processor' | 'load-failed';
      /** The loader's message. */
      readonly detail: string;
    };

/** Path of the addon that a local build makes. */
export declare function addonPath(): string;

/** The platform of this machine as package names have it: `linux-x64-gnu`. */
export declare function platformOf(): string | undefined;

/**
 * The npm package, with its version, that has the addon for this machine, or the library of device
 * kernels: `@saccade/native-linux-x64-gnu@0.1.0`. `undefined` where none is published. It need not be
 * installed.
 */
export declare function platformPackage(library?: DeviceLibrary): string | undefined;

/**
 * Path of a library of device kernels, there or not: beside the addon at `path` or in
 * `SACCADE_ADDON`, or else in its own package, or else where a local build puts it.
 */
export declare function libraryPath(library: DeviceLibrary, path?: string): string;

/**
 * Opens the addon at `path`; never throws. Default: the path in the environment variable
 * `SACCADE_ADDON`, for example of a build with a sanitizer, or else the addon of the platform's
 * package, or else the one that a local build made.
 */
export declare function loadAddon(path?: string): LoadResult;
