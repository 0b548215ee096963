/** The sum of two arrays, as in a residual connection. */
import { defineOp, FLOATS, type Part } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * y = a + b
 *
 *   ∂a = ∂b = ∂y
 *
 * a, b [N, D]. No paper: it is the definition.
 */
export const add = defineOp({
  id: 'add',
  inputs: {
    a: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    b: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
  },
  outputs: { y: { axes: ['N', 'D'], dtypes: FLOATS, grad: true } },
  scalars: {},

  forward({ a, b }, { N, D }) {
    const y = new Float64Array(N * D);
    for (let i = 0; i < N * D; i++) y[i] = a[i] + b[i];
    return { y };
  },
  backward: ({ y: dy }) => ({ a: dy.slice(), b: dy.slice() }),

  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [{ dims: { N: 1, D: 1 } }, { dims: { N: 3, D: 7 } }, { dims: { N: 65, D: 129 } }],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(70), D: 1 + random.integer(300) } }),
  part: (inputs, dims, _, random): Part => selectRows(add, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 2048, D: 2048 } }],
  cost: ({ N, D }, { bytesPerElement: size }) => ({ flops: N * D, bytes: 3 * N * D * size }),
  backwardCost: ({ N, D }, { bytesPerElement: size }) => ({ flops: 0, bytes: 3 * N * D * size }),
});
