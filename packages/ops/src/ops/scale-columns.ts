/** Each column of a matrix times a number of its own. */
import { defineOp, FLOATS, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * yₙ = xₙ∘w
 *
 *   ∂x = ∂y∘w      ∂w = Σₙ ∂yₙ∘xₙ
 *
 * LayerScale, Touvron et al. 2021, arXiv:2103.17239, eq. 3. x [N, D]; w [D].
 */
export const scaleColumns = defineOp({
  id: 'scaleColumns',
  inputs: {
    x: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    w: { axes: ['D'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ x, w }, { N, D }) {
    const y = new Float64Array(N * D);
    for (let n = 0; n < N; n++) for (let d = 0; d < D; d++) y[n * D + d] = x[n * D + d] * w[d];
    return { y };
  },
  backward({ y: dy }, { x, w }, { N, D }) {
    const dx = new Float64Array(N * D);
    const dw = new Float64Array(D);
    for (let n = 0; n < N; n++) {
      for (let d = 0; d < D; d++) {
        const i = n * D + d;
        dx[i] = dy[i] * w[d];
        dw[d] += dy[i] * x[i];
      }
    }
    return { x: dx, w: dw };
  },

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { N: 1, D: 1 } },
    { dims: { N: 3, D: 7 } },
    { dims: { N: 70, D: 64 } },
    { dims: { N: 65, D: 129 } },
    { dims: { N: 300, D: 8 } },
  ],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(90), D: 1 + random.integer(300) } }),
  part: (inputs, dims, _, random): Part => selectRows(scaleColumns, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 1024 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: N * D, bytes: (2 * N + 1) * D * size }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({
    flops: 3 * N * D,
    bytes: (3 * N + 2) * D * size,
  }),
});
