/** Sums of neighboring rows, each row with a weight of its own. */
import { defineOp, FLOATS, type Part, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yₙ = Σₖ wₙₖ·xₙₖ
 *
 *   ∂xₙₖ = wₙₖ·∂yₙ      ∂wₙₖ = ⟨∂yₙ, xₙₖ⟩
 *
 * After `gatherRows` it interpolates in a table of rows, such as learned positions. x [N, K, D];
 * w [N, K], float32. No paper: it is the definition.
 */
export const weightedSum = defineOp({
  id: 'weightedSum',
  inputs: {
    x: { axes: ['N', 'K', 'D'], dtypes: FLOATS, grad: true },
    w: { axes: ['N', 'K'], dtypes: WIDE_FLOATS, grad: true },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x, w }, { N, K, D }) {
    const y = new Float64Array(N * D);
    for (let n = 0; n < N; n++) {
      for (let k = 0; k < K; k++) {
        const row = (n * K + k) * D;
        for (let d = 0; d < D; d++) y[n * D + d] += w[n * K + k] * x[row + d];
      }
    }
    return { y };
  },
  backward({ y: dy }, { x, w }, { N, K, D }) {
    const dx = new Float64Array(N * K * D);
    const dw = new Float64Array(N * K);
    for (let n = 0; n < N; n++) {
      for (let k = 0; k < K; k++) {
        const row = (n * K + k) * D;
        for (let d = 0; d < D; d++) {
          dx[row + d] = w[n * K + k] * dy[n * D + d];
          dw[n * K + k] += dy[n * D + d] * x[row + d];
        }
      }
    }
    return { x: dx, w: dw };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { N: 1, K: 1, D: 1 } },
    { dims: { N: 3, K: 4, D: 7 } },
    { dims: { N: 65, K: 2, D: 64 } },
    { dims: { N: 5, K: 4, D: 1025 } },
    { dims: { N: 33, K: 8, D: 129 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(70), K: 1 + random.integer(9), D: 1 + random.integer(200) },
  }),
  part: (inputs, dims, _, random): Part => selectRows(weightedSum, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 1024, K: 4, D: 1024 } }, { dims: { N: 2048, K: 8, D: 2048 } }],
  cost: ({ N, K, D }, { bytesPerElement: size }) => ({
    flops: 2 * N * K * D,
    bytes: (K + 1) * N * D * size + 4 * N * K,
  }),
  backwardCost: ({ N, K, D }, { bytesPerElement: size }) => ({
    flops: 3 * N * K * D,
    bytes: (2 * K + 1) * N * D * size + 8 * N * K,
  }),
});
