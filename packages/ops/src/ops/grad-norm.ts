/** The running sum of squares from which the global gradient norm is taken. */
import { defineOp, WIDE_FLOATS } from '../op.ts';

/**
 * total = sum + Σₙ gradₙ²
 *
 * In place, so that chaining it over all gradients gives the square of their global norm.
 *
 * grad [N]; sum [U], U = 1. Kernels add in double and in a fixed order. No paper: a definition.
 */
export const gradNorm = defineOp({
  id: 'gradNorm',
  inputs: {
    grad: { axes: ['N'], dtypes: WIDE_FLOATS },
    sum: { axes: ['U'], dtypes: WIDE_FLOATS },
  },
  outputs: { total: { axes: ['U'], dtypes: WIDE_FLOATS, inPlaceOf: 'sum' } },
  scalars: {},

  check: ({ U }) =>
    U === 1 ? undefined : `sum holds ${U} numbers, expected 1. Pass sum as a [1] array.`,
  forward({ grad, sum }, { N }) {
    let total = sum[0];
    for (let n = 0; n < N; n++) total += grad[n] ** 2;
    return { total: Float64Array.of(total) };
  },

  sample: (_, random) => ({ sum: Float64Array.of(10 * random.uniform()) }),
  tolerance: { f32: 1e-5 },
  cases: [
    { dims: { N: 1, U: 1 } },
    { dims: { N: 7, U: 1 } },
    { dims: { N: 4096, U: 1 } },
    { dims: { N: 100_003, U: 1 } },
  ],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(20_000), U: 1 } }),
  benchCases: [{ dims: { N: 1 << 20, U: 1 } }],
  cost: ({ N }, { bytesPerElement: size }) => ({ flops: 2 * N, bytes: N * size }),
});
