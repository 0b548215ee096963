/** The CPU and CUDA backends as units: choices of a run by name. */
import { optionalCount } from '@saccade/core/settings';
import { defineBackend } from '@saccade/ops/unit';
import { z } from 'zod';
import { cudaBackend } from './cuda-backend.ts';
import { nativeBackend } from './native-backend.ts';

const BLOCKING = { launches: 'blocking' } as const;

/** The unit of `nativeBackend`. Its setting `threads` changes the speed and no result. */
export const native = defineBackend({
  name: 'native',
  description: 'Vectorized kernels on the CPU, through the Node addon.',
  settings: z.strictObject({
    threads: optionalCount({
      min: 1,
      max: 1024,
      unit: 'threads',
      about: 'Kernel threads; unset: one per core. Results do not depend on it.',
    }),
  }),
  open: ({ threads }, { blocking = false } = {}) =>
    nativeBackend({ ...(threads !== undefined && { threads }), ...(blocking && BLOCKING) }),
});

/** The unit of `cudaBackend`, on the first CUDA device that can be used. */
export const cuda = defineBackend({
  name: 'cuda',
  description: 'CUDA kernels on an NVIDIA GPU, through the Node addon.',
  settings: z.strictObject({}),
  open: () => cudaBackend(),
});
