/** The sum of two scaled arrays, in place: the step from which optimizers are composed. */
import { defineOp, type Part, type Values, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * y ← a·x + b·y;  where b is 0, y is not read; where x is absent, y ← b·y
 *
 * x [N], optional; y [N]. The name and the rule for b = 0 are those of the BLAS.
 */
export const axpby = defineOp({
  id: 'axpby',
  inputs: {
    x: { axes: ['N'], dtypes: WIDE_FLOATS, optional: true },
    y: { axes: ['N'], dtypes: WIDE_FLOATS },
  },
  outputs: { y: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'y' } },
  scalars: { a: 1, b: 1 },

  forward(inputs, { N }, { a, b }) {
    const { y } = inputs;
    const x: Values[string] | undefined = inputs.x;
    const sum = new Float64Array(N);
    for (let n = 0; n < N; n++) {
      if (x !== undefined) sum[n] += a * x[n];
      if (b !== 0) sum[n] += b * y[n];
    }
    return { y: sum };
  },

  tolerance: { f32: 1e-6 },
  cases: [
    { dims: { N: 1 } },
    { dims: { N: 7 }, scalars: { a: -0.5, b: 0.9 } },
    { dims: { N: 65 }, scalars: { a: 2, b: 0 } },
    { dims: { N: 65 }, scalars: { b: -1.5 }, without: ['x'] },
    { dims: { N: 7 }, scalars: { b: 0 }, without: ['x'] },
    { dims: { N: 4097 }, scalars: { a: 0, b: -1.5 } },
    { dims: { N: 10_001 }, scalars: { a: 0.1, b: 0.9 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(10_000) },
    scalars: { a: random.normal(), b: random.pick([0, 1, random.normal()]) },
    ...(random.integer(4) === 0 ? { without: ['x'] } : {}),
  }),
  part: (inputs, dims, _, random): Part => selectRows(axpby, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 1 << 20 }, scalars: { a: 0.1, b: 0.9 } }],
  cost: ({ N }, { bytesPerElement: size }) => ({ flops: 3 * N, bytes: 3 * N * size }),
});
