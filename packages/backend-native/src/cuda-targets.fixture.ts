/** Where the tests of the CUDA backend run: on the processor always, and on a device if there is one. */

import { attentionCatalog } from '@saccade/attention';
import type { DType } from '@saccade/core';
import { logprobCatalog } from '@saccade/logprob';
import type { Op } from '@saccade/ops';
import { opsCatalog } from '@saccade/ops';
import { type CudaBackendOptions, probeCuda } from './index.ts';

export interface CudaTarget {
  readonly label: string;
  readonly options: CudaBackendOptions;
}

/** Emulated devices by what they are for; see kernels/cuda/emulator/runtime.cc. */
export const EMULATED = { plain: 0, small: 1, breaking: 2, old: 3 } as const;

export const emulation = probeCuda({ emulated: true });
if (!emulation.available) throw new Error(emulation.message);
/** Ids of the kernels there are. */
export const kernels: readonly string[] = emulation.kernels;

const real = probeCuda();
if (!real.available) console.info(`CUDA kernels are tested in emulation only: ${real.message}`);

export const targets: readonly CudaTarget[] = [
  { label: 'emulated', options: { emulated: true } },
  ...(real.available ? [{ label: 'device', options: {} }] : []),
];

const all: readonly Op[] = [...opsCatalog, ...attentionCatalog, ...logprobCatalog];
/** The ops that have a kernel, and those that have none yet. */
export const ops: readonly Op[] = all.filter(({ id }) => kernels.includes(id));
export const missing: readonly string[] = all
  .map(({ id }) => id)
  .filter((id) => !kernels.includes(id));

/** Whether an op takes operands stored in this type. */
export const takes = (op: Op, dtype: DType): boolean =>
  Object.values(op.inputs).some(({ dtypes }) => dtypes.includes(dtype));
