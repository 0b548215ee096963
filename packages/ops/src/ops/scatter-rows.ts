/** Writes rows to given places of an array, as an append to a KV cache does. */
import { defineOp, FLOATS, INDICES } from '../op.ts';

/**
 * into[indexₙ] = xₙ, in place; the last one wins where an index repeats
 *
 * into [C, D]; x [N, D]; index [N] in [0, C). No paper: it is the definition.
 */
export const scatterRows = defineOp({
  id: 'scatterRows',
  inputs: {
    into: { axes: ['C', 'D'], dtypes: FLOATS },
    x: { axes: ['N', 'D'], dtypes: FLOATS },
    index: { axes: ['N'], dtypes: INDICES },
  },
  outputs: { into: { axes: ['C', 'D'], dtypes: FLOATS, inPlaceOf: 'into' } },
  scalars: {},

  forward({ into, x, index }, { N, D }) {
    const written = Float64Array.from(into);
    for (let n = 0; n < N; n++) {
      for (let d = 0; d < D; d++) written[index[n] * D + d] = x[n * D + d];
    }
    return { into: written };
  },

  sample: ({ C, N }, random) => ({
    index: Int32Array.from({ length: N }, () => random.integer(C)),
  }),
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  cases: [
    { dims: { C: 1, D: 1, N: 1 } },
    { dims: { C: 9, D: 7, N: 3 } },
    { dims: { C: 5, D: 33, N: 20 } },
    { dims: { C: 130, D: 128, N: 65 } },
  ],
  fuzz: (random) => ({
    dims: { C: 1 + random.integer(70), D: 1 + random.integer(140), N: 1 + random.integer(70) },
  }),
  benchCases: [{ dims: { C: 8192, D: 256, N: 128 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 0, bytes: 2 * N * D * size + 4 * N }),
});
