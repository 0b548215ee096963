/** Rows picked by index, repeats allowed. */
import { defineOp, FLOATS, INDICES, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yᵣ = x[indexᵣ]
 *
 *   ∂x: ∂yᵣ added to row indexᵣ, in order of r
 *
 * x [N, D]; index [R] in [0, N). No paper: it is the definition.
 */
export const gatherRows = defineOp({
  id: 'gatherRows',
  inputs: {
    x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    index: { axes: ['R'], dtypes: INDICES },
  },
  outputs: { y: { axes: ['R', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x, index }, { R, D }) {
    const y = new Float64Array(R * D);
    for (let r = 0; r < R; r++) {
      for (let d = 0; d < D; d++) y[r * D + d] = x[index[r] * D + d];
    }
    return { y };
  },

  backward({ y: dy }, { index }, { N, R, D }) {
    const dx = new Float64Array(N * D);
    for (let r = 0; r < R; r++) {
      for (let d = 0; d < D; d++) dx[index[r] * D + d] += dy[r * D + d];
    }
    return { x: dx };
  },

  sample: ({ N, R }, random) => ({
    index: Int32Array.from({ length: R }, () => random.integer(N)),
  }),
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { N: 1, D: 1, R: 1 } },
    { dims: { N: 3, D: 7, R: 10 } },
    { dims: { N: 65, D: 129, R: 31 } },
    { dims: { N: 2, D: 64, R: 200 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(70), D: 1 + random.integer(140), R: 1 + random.integer(140) },
  }),
  part: (inputs, dims, _, random): Part => selectRows(gatherRows, 'R', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 1024, R: 1024 } }],
  cost: ({ R, D }, { bytesPerElement: size }) => ({ flops: 0, bytes: 2 * R * D * size + 4 * R }),
  backwardCost: ({ N, R, D }, { bytesPerElement: size }) => ({
    flops: R * D,
    bytes: (R * D + N * D) * size + 4 * R,
  }),
});
