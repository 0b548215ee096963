/** Looks for the CUDA library and devices, or says why there are none and what to do about it. */
import { existsSync } from 'node:fs';
import { messageOf } from '@saccade/core';
import { type DeviceInfo, libraryPath, loadAddon } from '@saccade/native';
import { isDriverError } from './cuda-error.ts';
import { explain } from './load.ts';

export interface CudaDevice extends DeviceInfo {
  /** What `cudaBackend({ device })` takes. */
  readonly index: number;
}

export interface CudaAvailable {
  readonly available: true;
  /** The library's file. */
  readonly path: string;
  /** All that the driver offers; at least one can be used. */
  readonly devices: readonly CudaDevice[];
  /** Ids of the kernels in the library. */
  readonly kernels: readonly string[];
}

export interface CudaUnavailable {
  readonly available: false;
  readonly path: string;
  readonly reason: 'no-addon' | 'not-built' | 'load-failed' | 'no-driver' | 'no-device';
  /** The fact, then the remedy. */
  readonly message: string;
}

export interface ProbeCudaOptions {
  /** The library that runs on the processor; see `cudaBackend`. */
  readonly emulated?: boolean;
  /** The library's file. Default: the one built beside the addon. */
  readonly path?: string;
}

/** Whether the CUDA backend can be opened here; never throws. */
export function probeCuda(options: ProbeCudaOptions = {}): CudaAvailable | CudaUnavailable {
  const { emulated = false, path = cudaLibrary(emulated) } = options;
  const loaded = loadAddon();
  const refuse = (reason: CudaUnavailable['reason'], message: string): CudaUnavailable => ({
    available: false,
    path,
    reason,
    message,
  });
  if (!loaded.ok) return refuse('no-addon', explain(loaded));
  if (!existsSync(path)) {
    return refuse(
      'not-built',
      emulated
        ? `The CUDA kernels were not built for the CPU: ${path} does not exist. ` +
            'Run `node native/build.mjs --emulator` at the root of the clone.'
        : `No kernels were built for CUDA: ${path} does not exist. Install the CUDA toolkit ` +
            '(nvcc 12 or newer must be on the PATH) and run `npm run build` at the root of the clone.',
    );
  }
  try {
    const { devices, kernels } = loaded.addon.probeDevices(path);
    const numbered = devices.map((device, index) => ({ ...device, index }));
    if (numbered.some(({ obstacle }) => obstacle === undefined)) {
      const ids = kernels.map(({ id }) => id);
      return { available: true, path, devices: numbered, kernels: ids };
    }
    const obstacles = numbered.map(({ name, obstacle }) => `${name}: ${obstacle}`);
    return refuse('no-device', `No CUDA device can be used. ${obstacles.join(' ')}`);
  } catch (error) {
    if (!isDriverError(error)) {
      return refuse(
        'load-failed',
        `The library ${path} cannot be opened: ${messageOf(error)}. ` +
          'Delete native/build and run `npm run build`.',
      );
    }
    const isDriverMissing = error.driver === 'cudaErrorInsufficientDriver';
    return refuse(isDriverMissing ? 'no-driver' : 'no-device', error.message);
  }
}

/** Where the library lies, if it was built. */
export function cudaLibrary(emulated: boolean): string {
  return libraryPath(emulated ? 'cuda-emulated' : 'cuda');
}
