/** Where the tests of the CUDA backend run: always on the CPU, and on a device if there is one. */
import { type CudaBackendOptions, probeCuda } from './index.ts';

export interface CudaTarget {
  readonly label: 'emulated' | 'device';
  readonly options: CudaBackendOptions;
}

/** Emulated devices, by purpose; see kernels/cuda/emulator/runtime.cc. */
export const EMULATED = { plain: 0, small: 1, breaking: 2, old: 3, hopper: 4 } as const;

export const emulation = probeCuda({ emulated: true });
if (!emulation.available) throw new Error(emulation.message);
/** Ids of all kernels. */
export const kernels: readonly string[] = emulation.kernels;

const real = probeCuda();
if (!real.available) console.info(`CUDA kernels are tested in emulation only: ${real.message}`);

/** Where kernels are tested that have versions of their own for Hopper, in 16-bit storage. */
export const hopper: Pick<CudaTarget, 'options'> = {
  options: { emulated: true, device: EMULATED.hopper },
};

export const targets: readonly CudaTarget[] = [
  { label: 'emulated', options: { emulated: true } },
  ...(real.available ? [{ label: 'device', options: {} } as const] : []),
];
