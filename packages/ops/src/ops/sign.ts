/** The sign of every element, in place: the direction of Lion's step. */
import { defineOp, type Part, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * x ← 1 where x > 0, −1 where x < 0, else x: zeros and NaN stay
 *
 * x [N]. No paper: it is the definition.
 */
export const sign = defineOp({
  id: 'sign',
  inputs: { x: { axes: ['N'], dtypes: WIDE_FLOATS } },
  outputs: { x: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'x' } },
  scalars: {},

  forward: ({ x }) => ({ x: Float64Array.from(x, Math.sign) }),

  // Every fifth is zero, and some are so small that their squares are.
  sample: ({ N }, random) => ({
    x: Float64Array.from({ length: N }, () => {
      const scale = random.pick([0, 1, 1, 1, 1e-30]);
      return scale * random.normal();
    }),
  }),
  tolerance: { f32: 0 },
  cases: [{ dims: { N: 1 } }, { dims: { N: 7 } }, { dims: { N: 65 } }, { dims: { N: 10_001 } }],
  fuzz: (random) => ({ dims: { N: 1 + random.integer(10_000) } }),
  part: (inputs, dims, _, random): Part => selectRows(sign, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 1 << 20 } }],
  cost: ({ N }, { bytesPerElement: size }) => ({ flops: N, bytes: 2 * N * size }),
});
