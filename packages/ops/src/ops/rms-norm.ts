/** Root-mean-square normalization of rows. */
import { defineOp, FLOATS, type Part, type Values } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/** r = 1 / √(mean(x²) + eps) of row i. */
function reciprocalRms(x: Values[string], i: number, D: number, eps: number): number {
  let sum = 0;
  for (let j = 0; j < D; j++) sum += x[i * D + j] ** 2;
  return 1 / Math.sqrt(sum / D + eps);
}

/**
 * y = w ∘ x̂,  x̂ = x / √(mean(x²) + eps)
 *
 *   ∂x = r·(w∘∂y − x̂·mean(w∘∂y∘x̂)),  r = 1/√(mean(x²) + eps)      ∂w = Σₙ ∂y∘x̂
 *
 * Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4. x [N, D]; w [D].
 */
export const rmsNorm = defineOp({
  id: 'rmsNorm',
  inputs: {
    x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    w: { axes: ['D'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: { eps: 1e-6 },

  forward({ x, w }, { N, D }, { eps }) {
    const y = new Float64Array(N * D);
    for (let i = 0; i < N; i++) {
      const r = reciprocalRms(x, i, D, eps);
      for (let j = 0; j < D; j++) y[i * D + j] = w[j] * x[i * D + j] * r;
    }
    return { y };
  },

  backward({ y: dy }, { x, w }, { N, D }, { eps }) {
    const dx = new Float64Array(N * D);
    const dw = new Float64Array(D);
    for (let i = 0; i < N; i++) {
      const r = reciprocalRms(x, i, D, eps);
      let dot = 0;
      for (let j = 0; j < D; j++) dot += w[j] * dy[i * D + j] * x[i * D + j] * r;
      for (let j = 0; j < D; j++) {
        const k = i * D + j;
        const xHat = x[k] * r;
        dx[k] = r * (w[j] * dy[k] - (xHat * dot) / D);
        dw[j] += dy[k] * xHat;
      }
    }
    return { x: dx, w: dw };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  // At D = 1 ∂x cancels to ≈ 0, which no float32 kernel computes to relative precision.
  cases: [
    { dims: { N: 1, D: 3 } },
    { dims: { N: 3, D: 7 }, scalars: { eps: 0.1 } },
    { dims: { N: 2, D: 128 } },
    { dims: { N: 65, D: 64 } },
    { dims: { N: 5, D: 1025 }, scalars: { eps: 1e-5 } },
  ],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(70), D: 3 + random.integer(300) } }),
  part: (inputs, dims, _, random): Part => selectRows(rmsNorm, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 128 } }, { dims: { N: 2048, D: 2048 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 4 * N * D,
    bytes: (2 * N * D + D) * size,
  }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 11 * N * D,
    bytes: (3 * N * D + 2 * D) * size,
  }),
});
