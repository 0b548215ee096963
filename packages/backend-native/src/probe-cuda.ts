/** Finds the CUDA library and its devices, or explains why there are none, with a remedy. */
import { existsSync } from 'node:fs';
import { messageOf } from '@saccade/core';
import { type DeviceInfo, libraryPath, loadAddon, platformPackage } from '@saccade/native';
import { isDriverError } from './cuda-error.ts';
import { explain, isInstalled } from './load.ts';

/** A device that the driver reports, usable or not; `obstacle` says why it is not. */
export interface CudaDevice extends DeviceInfo {
  /** Index of the device, as `cudaBackend({ device })` takes it. */
  readonly index: number;
}

/** At least one CUDA device can be used: the devices, and the kernels of the library. */
export interface CudaAvailable {
  readonly available: true;
  /** Path of the CUDA library's file. */
  readonly path: string;
  /** All devices that the driver reports; at least one of them has no `obstacle`. */
  readonly devices: readonly CudaDevice[];
  /** Ids of the kernels in the library. */
  readonly kernels: readonly string[];
}

/**
 * No CUDA device can be used. `no-addon`: the Node addon is missing; `not-built`: the CUDA library
 * is; `load-failed`: the library cannot be opened; `no-driver`: the driver is missing or too old.
 */
export interface CudaUnavailable {
  readonly available: false;
  /** Path of the library that was tried. */
  readonly path: string;
  readonly reason: 'no-addon' | 'not-built' | 'load-failed' | 'no-driver' | 'no-device';
  /** The reason and the remedy, in sentences. */
  readonly message: string;
}

/** Selects the CUDA library to probe. */
export interface ProbeCudaOptions {
  /** Probes the library that emulates CUDA on the CPU; see `cudaBackend`. Default false. */
  readonly emulated?: boolean;
  /** Path of the library. Default: the one built beside the addon. */
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
            'Run `node native/build.mjs --tests` at the root of the clone.'
        : missingKernels(path),
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
          (isInstalled(path)
            ? 'Install its package again.'
            : 'Delete native/build and run `npm run build`.'),
      );
    }
    const isDriverMissing = error.driver === 'cudaErrorInsufficientDriver';
    return refuse(isDriverMissing ? 'no-driver' : 'no-device', error.message);
  }
}

function missingKernels(path: string): string {
  if (!isInstalled(path)) {
    return (
      `No kernels were built for CUDA: ${path} does not exist. Install the CUDA toolkit ` +
      '(nvcc 12 or newer must be on the PATH) and run `npm run build` at the root of the clone.'
    );
  }
  const prebuilt = platformPackage('cuda');
  return prebuilt === undefined
    ? `There are no kernels for CUDA on ${process.platform}-${process.arch}. Use Linux on x64.`
    : `The kernels for CUDA are a package of their own. Run \`npm install ${prebuilt}\`.`;
}

/** Path of the library, whether it was built or not. */
export function cudaLibrary(emulated: boolean): string {
  return libraryPath(emulated ? 'cuda-emulated' : 'cuda');
}
