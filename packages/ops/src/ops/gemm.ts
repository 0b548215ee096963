/** Matrix product with a transposed weight, as in a linear layer. */
import { defineOp, FLOATS, type Part, type Values } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * y = x·wᵀ + b
 *
 *   ∂x = ∂y·w      ∂w = ∂yᵀ·x      ∂b = Σₘ ∂yₘ
 *
 * x [M, K]; w [N, K], a row per output, as PyTorch's `nn.Linear` stores it; b [N], optional.
 */
export const gemm = defineOp({
  id: 'gemm',
  inputs: {
    x: { axes: ['M', 'K'], dtypes: FLOATS, grad: true },
    w: { axes: ['N', 'K'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
    b: { axes: ['N'], dtypes: FLOATS, grad: true, gradDtype: 'f32', optional: true },
  },
  outputs: { y: { axes: ['M', 'N'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward(inputs, { M, N, K }) {
    const { x, w } = inputs;
    const b: Values[string] | undefined = inputs.b;
    const y = new Float64Array(M * N);
    for (let m = 0; m < M; m++) {
      for (let n = 0; n < N; n++) {
        let sum = b === undefined ? 0 : b[n];
        for (let k = 0; k < K; k++) sum += x[m * K + k] * w[n * K + k];
        y[m * N + n] = sum;
      }
    }
    return { y };
  },

  backward({ y: dy }, { x, w }, { M, N, K }) {
    const dx = new Float64Array(M * K);
    const dw = new Float64Array(N * K);
    const db = new Float64Array(N);
    for (let m = 0; m < M; m++) {
      for (let n = 0; n < N; n++) {
        const d = dy[m * N + n];
        db[n] += d;
        for (let k = 0; k < K; k++) {
          dx[m * K + k] += d * w[n * K + k];
          dw[n * K + k] += d * x[m * K + k];
        }
      }
    }
    return { x: dx, w: dw, b: db };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { M: 1, K: 1, N: 1 } },
    { dims: { M: 1, K: 128, N: 65 }, without: ['b'] },
    { dims: { M: 3, K: 7, N: 5 } },
    { dims: { M: 17, K: 33, N: 63 }, without: ['b'] },
    { dims: { M: 64, K: 64, N: 64 } },
    { dims: { M: 65, K: 130, N: 1 } },
    { dims: { M: 70, K: 401, N: 97 }, without: ['b'] },
  ],
  fuzz: (random) => ({
    dims: {
      M: 1 + random.integer(80),
      K: 1 + random.integer(140),
      N: 1 + random.integer(100),
    },
    ...(random.integer(2) === 0 ? { without: ['b'] } : {}),
  }),
  part: (inputs, dims, _, random): Part => selectRows(gemm, 'M', inputs, dims, random),
  benchCases: [
    { dims: { M: 256, K: 256, N: 256 }, without: ['b'] },
    { dims: { M: 2048, K: 128, N: 384 }, without: ['b'] },
    { dims: { M: 2048, K: 1024, N: 1024 }, without: ['b'] },
    { dims: { M: 2048, K: 2048, N: 2048 }, without: ['b'] },
    { dims: { M: 16, K: 1024, N: 1024 }, without: ['b'] },
  ],
  cost: ({ M, N, K }, { bytesPerElement: size }) => ({
    flops: 2 * M * N * K,
    bytes: (M * K + N * K + M * N) * size,
  }),
  backwardCost: ({ M, N, K }, { bytesPerElement: size }) => ({
    flops: 4 * M * N * K,
    bytes: (2 * M * K + 2 * N * K + M * N) * size,
  }),
});
