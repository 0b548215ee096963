/** The CUDA backend: kernels of the addon's CUDA library on one device. */
import { ConfigError, MissingError } from '@saccade/core';
import type { Backend } from '@saccade/ops';
import { AddonBackend } from './addon-backend.ts';
import { CudaError, isDriverError } from './cuda-error.ts';
import { openAddon } from './load.ts';
import { type CudaDevice, cudaLibrary, probeCuda } from './probe-cuda.ts';

/** Options of `cudaBackend`. */
export interface CudaBackendOptions {
  /** Index of the device in `probeCuda().devices`. Default: the first that can be used. */
  readonly device?: number;
  /**
   * Runs the same kernels on the CPU, in an emulation of CUDA. Very slow; for tests on machines
   * without a device. Default false.
   */
  readonly emulated?: boolean;
  /** Fills the kernels' workspaces with NaN before each use; for tests. */
  readonly poisonWorkspaces?: boolean;
}

/**
 * Opens the CUDA backend.
 *
 * Launches are queued on one stream of the device. The same inputs give the same bits on one model
 * of device. A backend that is abandoned without `dispose` keeps nothing alive; a pending read
 * keeps the process alive until it is done.
 *
 * @throws MissingError  if there is no library, driver or device, with the reason and the remedy
 * @throws ConfigError   if the requested device cannot be used
 * @throws CudaError     if the driver fails
 */
export function cudaBackend(options: CudaBackendOptions = {}): Backend {
  const { emulated = false, poisonWorkspaces = false } = options;
  const probe = probeCuda({ emulated });
  if (!probe.available) throw new MissingError(probe.message);
  const device = chooseDevice(probe.devices, options.device);
  const addon = openAddon();
  try {
    const runtime = new addon.DeviceRuntime(cudaLibrary(emulated), device.index);
    runtime.poisonScratch(poisonWorkspaces);
    return new AddonBackend('cuda', runtime, `CUDA, ${describeDevice(device)}`);
  } catch (error) {
    throw isDriverError(error) ? new CudaError(error) : error;
  }
}

/** A device for people: `NVIDIA H200 (compute capability 9.0, 139.8 GiB)`. */
export function describeDevice({ name, computeCapability, memoryBytes }: CudaDevice): string {
  const gibibytes = (memoryBytes / 1024 ** 3).toFixed(1);
  return `${name} (compute capability ${computeCapability.toFixed(1)}, ${gibibytes} GiB)`;
}

function chooseDevice(devices: readonly CudaDevice[], wanted: number | undefined): CudaDevice {
  const usable = devices.filter(({ obstacle }) => obstacle === undefined);
  const chosen = wanted === undefined ? usable[0] : devices[wanted];
  if (chosen !== undefined && chosen.obstacle === undefined) return chosen;
  const known = usable.map(({ index, name }) => `${index} (${name})`).join(', ');
  throw new ConfigError(
    'device',
    chosen === undefined
      ? `There is no CUDA device ${wanted}. Known: ${known}.`
      : `CUDA device ${wanted} (${chosen.name}) cannot be used: ${chosen.obstacle}`,
  );
}
