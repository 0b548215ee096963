/** The values of block-wise 8-bit codes: the inverse of `quantizeBlocks` up to its rounding. */
import { defineOp, WIDE_FLOATS } from '../op.ts';
import { BLOCK, blockDims, checkBlocks, sampleBlocks } from './quantized-blocks.ts';

/**
 * xₙ = table[codeₙ] · scaleₖ,  k = ⌊n/256⌋
 *
 * Dettmers et al. 2021, arXiv:2110.02861, section 2.1. Layout of the operands: `quantizeBlocks`.
 *
 * codes [W]; scales [K]; table [T]; x [N], whose earlier values are not read.
 */
export const dequantizeBlocks = defineOp({
  id: 'dequantizeBlocks',
  inputs: {
    codes: { axes: ['W'], dtypes: ['i32'] },
    scales: { axes: ['K'], dtypes: WIDE_FLOATS },
    table: { axes: ['T'], dtypes: WIDE_FLOATS },
    x: { axes: ['N'], dtypes: WIDE_FLOATS },
  },
  outputs: { x: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'x' } },
  scalars: {},

  check: checkBlocks,
  forward({ codes, scales, table }, { N }) {
    const x = new Float64Array(N);
    for (let n = 0; n < N; n++) {
      const code = (codes[n >> 2] >> (8 * (n & 3))) & 255;
      x[n] = table[code] * scales[Math.floor(n / BLOCK)];
    }
    return { x };
  },

  sample: sampleBlocks,
  tolerance: { f32: 1e-6 },
  cases: [1, 7, 256, 257, 1001].map((N) => ({ dims: blockDims(N) })),
  fuzz: (random) => ({ dims: blockDims(1 + random.integer(5000)) }),
  benchCases: [{ dims: blockDims(1 << 20) }],
  cost: ({ N, K }, { bytesPerElement: size }) => ({ flops: N, bytes: N * (size + 1) + K * size }),
});
