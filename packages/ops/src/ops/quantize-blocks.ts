/** Block-wise 8-bit quantization: it stores an optimizer's moments in a quarter of the memory. */
import { defineOp, WIDE_FLOATS } from '../op.ts';
import { BLOCK, blockDims, CODES, checkBlocks, sampleBlocks } from './quantized-blocks.ts';

/**
 * scaleₖ = max |xₙ| over the 256 elements of block k
 * codeₙ  = the c whose tableᶜ · scaleₖ is nearest to xₙ; of two equally near ones the lower
 *
 * Dettmers et al. 2021, arXiv:2110.02861, section 2.1. The midpoints between codes and their
 * products with the scale are rounded to float32, so that every backend chooses the same codes.
 *
 * x [N], finite; table [T], T = 256, ascending, in [−1, 1]; codes [W], W = ⌈N/4⌉: four codes in an
 * int32, the first in its lowest byte, unused bytes 0; scales [K], K = ⌈N/256⌉. The values that
 * codes and scales had are not read.
 */
export const quantizeBlocks = defineOp({
  id: 'quantizeBlocks',
  inputs: {
    x: { axes: ['N'], dtypes: WIDE_FLOATS },
    table: { axes: ['T'], dtypes: WIDE_FLOATS },
    codes: { axes: ['W'], dtypes: ['i32'] },
    scales: { axes: ['K'], dtypes: WIDE_FLOATS },
  },
  outputs: {
    codes: { axes: ['W'], dtypes: ['i32'], inPlaceOf: 'codes' },
    scales: { axes: ['K'], dtypes: WIDE_FLOATS, inPlaceOf: 'scales' },
  },
  scalars: {},

  check: checkBlocks,
  forward({ x, table }, { N, W, K }) {
    const codes = new Int32Array(W);
    const scales = new Float64Array(K);
    for (let n = 0; n < N; n++) {
      const block = Math.floor(n / BLOCK);
      scales[block] = Math.max(scales[block], Math.abs(x[n]));
    }
    for (let n = 0; n < N; n++) {
      const scale = scales[Math.floor(n / BLOCK)];
      let code = 0;
      while (code < CODES - 1) {
        const midpoint = Math.fround(0.5 * Math.fround(table[code] + table[code + 1]));
        if (!(x[n] > Math.fround(midpoint * scale))) break;
        code++;
      }
      codes[n >> 2] |= code << (8 * (n & 3));
    }
    return { codes, scales };
  },

  sample: sampleBlocks,
  tolerance: { f32: 1e-6 },
  cases: [1, 7, 256, 257, 1001].map((N) => ({ dims: blockDims(N) })),
  fuzz: (random) => ({ dims: blockDims(1 + random.integer(5000)) }),
  benchCases: [{ dims: blockDims(1 << 20) }],
  cost: ({ N, K }, { bytesPerElement: size }) => ({
    flops: 9 * N,
    bytes: N * (size + 1) + K * size,
  }),
});
