/** Matrix products in which every row has a matrix of its own choice: the layers of experts. */
import { defineOp, FLOATS, INDICES, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yᵣ = w[expertsᵣ]·xᵣ
 *
 *   ∂xᵣ = w[expertsᵣ]ᵀ·∂yᵣ      ∂w[e] = Σ ∂yᵣ·xᵣᵀ over the rows r with expertsᵣ = e, in order of r
 *
 * x [R, K]; experts [R] in [0, E); w [E, N, K], a matrix per expert as in `gemm`. An expert without
 * rows gets zeros as its gradient. No paper: it is the definition.
 *
 * The feed-forward layer of a mixture of experts, for tokens x [T, D] and `routeExperts` of them:
 *
 *   rows = gatherRows(x, ⌊r/K⌋ for r < T·K)        experts as [T·K]
 *   y = expertLinear(swiglu(expertLinear(rows, experts, gate), expertLinear(rows, experts, up)),
 *                    experts, down)
 *   weightedSum(y as [T, K, D], weights)
 */
export const expertLinear = defineOp({
  id: 'expertLinear',
  inputs: {
    x: { axes: ['R', 'K'], dtypes: FLOATS, grad: true },
    experts: { axes: ['R'], dtypes: INDICES },
    w: { axes: ['E', 'N', 'K'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
  },
  outputs: { y: { axes: ['R', 'N'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x, experts, w }, { R, N, K }) {
    const y = new Float64Array(R * N);
    for (let r = 0; r < R; r++) {
      for (let n = 0; n < N; n++) {
        const row = (experts[r] * N + n) * K;
        let sum = 0;
        for (let k = 0; k < K; k++) sum += x[r * K + k] * w[row + k];
        y[r * N + n] = sum;
      }
    }
    return { y };
  },

  backward({ y: dy }, { x, experts, w }, { R, K, E, N }) {
    const dx = new Float64Array(R * K);
    const dw = new Float64Array(E * N * K);
    for (let r = 0; r < R; r++) {
      for (let n = 0; n < N; n++) {
        const d = dy[r * N + n];
        const row = (experts[r] * N + n) * K;
        for (let k = 0; k < K; k++) {
          dx[r * K + k] += d * w[row + k];
          dw[row + k] += d * x[r * K + k];
        }
      }
    }
    return { x: dx, w: dw };
  },

  // Some experts are popular, some have no rows, as routers go.
  sample: ({ R, E }, random) => ({
    experts: Int32Array.from({ length: R }, () => random.integer(1 + random.integer(E))),
  }),
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { R: 1, K: 1, E: 1, N: 1 } },
    { dims: { R: 3, K: 7, E: 9, N: 5 } },
    { dims: { R: 40, K: 33, E: 4, N: 63 } },
    { dims: { R: 8, K: 64, E: 16, N: 64 } },
    { dims: { R: 130, K: 20, E: 3, N: 66 } },
  ],
  fuzz: (random) => ({
    dims: {
      R: 1 + random.integer(90),
      K: 1 + random.integer(70),
      E: 1 + random.integer(10),
      N: 1 + random.integer(70),
    },
  }),
  part: (inputs, dims, _, random): Part => selectRows(expertLinear, 'R', inputs, dims, random),
  benchCases: [
    { dims: { R: 4096, K: 512, E: 32, N: 256 } },
    { dims: { R: 64, K: 1024, E: 32, N: 512 } },
  ],
  // Every matrix is counted, though experts without rows are not read.
  cost: ({ R, K, E, N }, { bytesPerElement: size }) => ({
    flops: 2 * R * N * K,
    bytes: (R * K + E * N * K + R * N) * size + 4 * R,
  }),
  backwardCost: ({ R, K, E, N }, { bytesPerElement: size }) => ({
    flops: 4 * R * N * K,
    bytes: (2 * R * K + 2 * E * N * K + R * N) * size + 4 * R,
  }),
});
