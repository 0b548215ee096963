/** Sums of rows with weights: the outputs of a token's experts, put together. */
import { FLOATS, type Op, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yₜ = Σₖ weightsₜₖ·xₜₖ
 *
 *   ∂xₜₖ = weightsₜₖ·∂yₜ      ∂weightsₜₖ = ⟨∂yₜ, xₜₖ⟩
 *
 * x [T, K, D]; weights [T, K], never bf16. No paper: it is the definition.
 */
export const weightedSum: Op = {
  id: 'weightedSum',
  inputs: {
    x: { axes: ['T', 'K', 'D'], dtypes: FLOATS, grad: true },
    weights: { axes: ['T', 'K'], dtypes: WIDE_FLOATS, grad: true },
  },
  outputs: { y: { axes: ['T', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x, weights }, { T, K, D }) {
    const y = new Float64Array(T * D);
    for (let t = 0; t < T; t++) {
      for (let k = t * K; k < (t + 1) * K; k++) {
        for (let d = 0; d < D; d++) y[t * D + d] += weights[k] * x[k * D + d];
      }
    }
    return { y };
  },

  backward({ y: dy }, { x, weights }, { T, K, D }) {
    const dx = new Float64Array(T * K * D);
    const dWeights = new Float64Array(T * K);
    for (let t = 0; t < T; t++) {
      for (let k = t * K; k < (t + 1) * K; k++) {
        for (let d = 0; d < D; d++) {
          dx[k * D + d] = weights[k] * dy[t * D + d];
          dWeights[k] += dy[t * D + d] * x[k * D + d];
        }
      }
    }
    return { x: dx, weights: dWeights };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { T: 1, K: 1, D: 1 } },
    { dims: { T: 3, K: 2, D: 7 } },
    { dims: { T: 33, K: 8, D: 128 } },
    { dims: { T: 5, K: 3, D: 1025 } },
  ],
  fuzz: (random) => ({
    dims: { T: 1 + random.integer(50), K: 1 + random.integer(10), D: 1 + random.integer(300) },
  }),
  part: (inputs, dims, _, random) => selectRows(weightedSum, 'T', inputs, dims, random),
  benchCases: [{ dims: { T: 512, K: 8, D: 2048 } }],
  cost: ({ T, K, D }, { bytesPerElement: size }) => ({
    flops: 2 * T * K * D,
    bytes: (T * K * D + T * D) * size + 4 * T * K,
  }),
  backwardCost: ({ T, K, D }, { bytesPerElement: size }) => ({
    flops: 3 * T * K * D,
    bytes: (2 * T * K * D + T * D) * size + 8 * T * K,
  }),
};
