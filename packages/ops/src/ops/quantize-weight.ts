/** Quantization of a linear layer's weight to 8 or 4 bits, for decoding from less memory. */
import { defineOp, FLOATS, WIDE_FLOATS } from '../op.ts';
import {
  checkWeight,
  codeLimit,
  placeOf,
  ROWS_TOGETHER,
  sampleWeight,
  type WeightForm,
  weightDims,
  weightFormOf,
} from './quantized-weight.ts';

/**
 * scaleᵍₙ = max |wₙₖ| over the columns k of group g, times 1/limit
 * codeₙₖ  = the integer in [−limit, limit] whose product with the scale is nearest to wₙₖ; of two
 *           equally near ones the one nearer to 0
 *
 * Symmetric "scale" quantization: Wu et al. 2020, arXiv:2004.09602, eq. 7–9. The limit is 127 of 8
 * bits and 7 of 4, so zero stays zero and no weight is cut off. A scale belongs to a row (one output
 * channel), as is usual for 8 bits, or to 64 or 128 columns of a row, as 4 bits need (Frantar et al.
 * 2022, arXiv:2210.17323, section 4). The lengths of codes and scales say which form it is.
 * Products are rounded to float32, so that every backend chooses the same codes. No gradient: the
 * weights that train are others.
 *
 * w [N, K], finite; codes [P, W, L], L = 16: word (p, i, l) has the codes of row 16p + l from column
 * 4i on (8 bits: column 4i + j in byte j) or 8i on (4 bits: column 8i + 2j + h from bit 16h + 4j on),
 * each plus 128 or 8, those beyond the edges code 0; scales [S, N]. The values that codes and scales
 * had are not read.
 */
export const quantizeWeight = defineOp({
  id: 'quantizeWeight',
  inputs: {
    w: { axes: ['N', 'K'], dtypes: FLOATS },
    codes: { axes: ['P', 'W', 'L'], dtypes: ['i32'] },
    scales: { axes: ['S', 'N'], dtypes: WIDE_FLOATS },
  },
  outputs: {
    codes: { axes: ['P', 'W', 'L'], dtypes: ['i32'], inPlaceOf: 'codes' },
    scales: { axes: ['S', 'N'], dtypes: WIDE_FLOATS, inPlaceOf: 'scales' },
  },
  scalars: {},

  check: checkWeight,
  forward({ w }, dims) {
    const { N, K, P, W, L, S } = dims;
    const { bits, group } = weightFormOf(dims) as WeightForm;
    const limit = codeLimit(bits);
    // Code 0 in every place of a word.
    const codes = new Int32Array(P * W * L).fill(bits === 8 ? 0x80808080 | 0 : 0x88888888 | 0);
    const scales = new Float64Array(S * N);
    for (let n = 0; n < N; n++) {
      for (let first = 0, g = 0; first < K; first += group, g++) {
        const end = Math.min(K, first + group);
        let largest = 0;
        for (let k = first; k < end; k++) largest = Math.max(largest, Math.abs(w[n * K + k]));
        const scale = Math.fround(Math.fround(largest) * Math.fround(1 / limit));
        scales[g * N + n] = scale;
        for (let k = first; k < end; k++) {
          const value = w[n * K + k];
          let size = 0;
          while (size < limit && Math.abs(value) > Math.fround((size + 0.5) * scale)) size++;
          const [word, shift] = placeOf(n, k, dims, bits);
          const stored = 2 ** (bits - 1) + (value < 0 ? -size : size);
          codes[word] = (codes[word] & ~((2 ** bits - 1) << shift)) | (stored << shift);
        }
      }
    }
    return { codes, scales };
  },

  sample: sampleWeight,
  tolerance: { f32: 1e-6, bf16: 1e-6, f16: 1e-6 },
  cases: [
    { dims: weightDims(1, 1, { bits: 8, group: 1 }) },
    { dims: weightDims(5, 7, { bits: 4, group: 7 }) },
    { dims: weightDims(17, 130, { bits: 8, group: 130 }) },
    { dims: weightDims(33, 200, { bits: 4, group: 64 }) },
    { dims: weightDims(16, 300, { bits: 4, group: 128 }) },
  ],
  fuzz: (random) => {
    const K = 9 + random.integer(400);
    const bits = random.pick([4, 8] as const);
    return {
      dims: weightDims(1 + random.integer(70), K, { bits, group: random.pick([64, 128, K]) }),
    };
  },
  benchCases: [
    { dims: weightDims(2048, 2048, { bits: 8, group: 2048 }) },
    { dims: weightDims(2048, 2048, { bits: 4, group: 128 }) },
  ],
  cost: ({ N, K, P, W, S }, { bytesPerElement: size }) => ({
    flops: 4 * N * K,
    bytes: N * K * size + 4 * P * W * ROWS_TOGETHER + 4 * S * N,
  }),
});
