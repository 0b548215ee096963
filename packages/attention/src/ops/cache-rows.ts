/** Writes float32 rows to given places of a cache that may be stored in fewer bits. */
import { defineOp, scatterRows, WIDE_FLOATS } from '@saccade/ops';

/**
 * `scatterRows` of float32 rows, rounded to the storage of the array that they are written to: how a
 * KV cache of 16 bits grows.
 *
 * into [C, D] of any storage; x [N, D] float32; index [N] in [0, C).
 */
export const cacheRows = defineOp({
  ...scatterRows,
  id: 'cacheRows',
  inputs: { ...scatterRows.inputs, x: { axes: ['N', 'D'], dtypes: WIDE_FLOATS } },
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 0, bytes: N * D * (size + 4) + 4 * N }),
});
