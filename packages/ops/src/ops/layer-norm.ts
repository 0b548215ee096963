/** Layer normalization of rows. */
import { defineOp, FLOATS, type Part, type Values } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/** x̂ and r = 1 / √(σ² + eps) of row i. */
function normalized(
  x: Values[string],
  i: number,
  D: number,
  eps: number,
): { readonly xHat: Float64Array; readonly r: number } {
  let sum = 0;
  for (let j = 0; j < D; j++) sum += x[i * D + j];
  const mean = sum / D;
  let squares = 0;
  for (let j = 0; j < D; j++) squares += (x[i * D + j] - mean) ** 2;
  const r = 1 / Math.sqrt(squares / D + eps);
  const xHat = Float64Array.from({ length: D }, (_, j) => (x[i * D + j] - mean) * r);
  return { xHat, r };
}

/**
 * y = w ∘ x̂ + b,  x̂ = (x − μ) / √(σ² + eps)
 *
 *   ∂x = r·(g − mean(g) − x̂·mean(g∘x̂)),  g = w∘∂y,  r = 1/√(σ² + eps)
 *   ∂w = Σₙ ∂y∘x̂      ∂b = Σₙ ∂yₙ
 *
 * Ba et al. 2016, arXiv:1607.06450, eq. 3; μ and σ² are the mean and the biased variance of a row.
 * x [N, D]; w [D]; b [D], optional.
 */
export const layerNorm = defineOp({
  id: 'layerNorm',
  inputs: {
    x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    w: { axes: ['D'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
    b: { axes: ['D'], dtypes: FLOATS, grad: true, gradDtype: 'f32', optional: true },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: { eps: 1e-5 },

  forward(inputs, { N, D }, { eps }) {
    const { x, w } = inputs;
    const b: Values[string] | undefined = inputs.b;
    const y = new Float64Array(N * D);
    for (let i = 0; i < N; i++) {
      const { xHat } = normalized(x, i, D, eps);
      for (let j = 0; j < D; j++) y[i * D + j] = w[j] * xHat[j] + (b === undefined ? 0 : b[j]);
    }
    return { y };
  },

  backward({ y: dy }, { x, w }, { N, D }, { eps }) {
    const dx = new Float64Array(N * D);
    const dw = new Float64Array(D);
    const db = new Float64Array(D);
    for (let i = 0; i < N; i++) {
      const { xHat, r } = normalized(x, i, D, eps);
      let sum = 0;
      let dot = 0;
      for (let j = 0; j < D; j++) {
        const g = w[j] * dy[i * D + j];
        sum += g;
        dot += g * xHat[j];
      }
      for (let j = 0; j < D; j++) {
        const k = i * D + j;
        dx[k] = r * (w[j] * dy[k] - sum / D - (xHat[j] * dot) / D);
        dw[j] += dy[k] * xHat[j];
        db[j] += dy[k];
      }
    }
    return { x: dx, w: dw, b: db };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  // At D = 1 and 2, ∂x cancels to ≈ 0, which no float32 kernel computes to relative precision.
  cases: [
    { dims: { N: 1, D: 4 } },
    { dims: { N: 3, D: 7 }, scalars: { eps: 0.1 } },
    { dims: { N: 2, D: 128 }, without: ['b'] },
    { dims: { N: 65, D: 64 } },
    { dims: { N: 5, D: 1025 }, scalars: { eps: 1e-6 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(70), D: 4 + random.integer(300) },
    ...(random.integer(3) === 0 ? { without: ['b'] } : {}),
  }),
  part: (inputs, dims, _, random): Part => selectRows(layerNorm, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 128 } }, { dims: { N: 2048, D: 2048 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 8 * N * D,
    bytes: (2 * N * D + 2 * D) * size,
  }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 16 * N * D,
    bytes: (3 * N * D + 3 * D) * size,
  }),
});
