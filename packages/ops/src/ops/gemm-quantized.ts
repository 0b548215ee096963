/** Matrix product with a weight of 8 or 4 bits, as in decoding. */
import { defineOp, FLOATS, type Part, type Values, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';
import { checkWeight, dequantizeWeight, sampleWeight, weightDims } from './quantized-weight.ts';

/**
 * y = x·wᵀ + b,  wₙₖ = codeₙₖ · scaleᵍₙ with the group g of column k
 *
 * The weight alone is quantized: x keeps its type, and sums are float32. Layout of codes and scales:
 * `quantizeWeight`. No gradient: it is for sampling.
 *
 * x [M, K]; codes [P, W, L]; scales [S, N]; b [N], optional.
 */
export const gemmQuantized = defineOp({
  id: 'gemmQuantized',
  inputs: {
    x: { axes: ['M', 'K'], dtypes: FLOATS },
    codes: { axes: ['P', 'W', 'L'], dtypes: ['i32'] },
    scales: { axes: ['S', 'N'], dtypes: WIDE_FLOATS },
    b: { axes: ['N'], dtypes: FLOATS, optional: true },
  },
  outputs: { y: { axes: ['M', 'N'], dtypes: FLOATS } },
  scalars: {},

  check: checkWeight,
  forward(inputs, dims) {
    const { M, N, K } = dims;
    const { x, codes, scales } = inputs;
    const b: Values[string] | undefined = inputs.b;
    const w = dequantizeWeight(codes, scales, dims);
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

  sample: sampleWeight,
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  // Few combinations of rows, bits and bias: WebGPU compiles a shader for each, for seconds.
  cases: [
    { dims: { M: 1, ...weightDims(1, 1, { bits: 8, group: 1 }) } },
    { dims: { M: 3, ...weightDims(17, 77, { bits: 8, group: 77 }) } },
    { dims: { M: 17, ...weightDims(40, 200, { bits: 4, group: 64 }) }, without: ['b'] },
    { dims: { M: 1, ...weightDims(65, 300, { bits: 4, group: 128 }) } },
    { dims: { M: 33, ...weightDims(16, 520, { bits: 8, group: 520 }) } },
    { dims: { M: 2, ...weightDims(5, 9, { bits: 4, group: 9 }) }, without: ['b'] },
    { dims: { M: 3, ...weightDims(33, 129, { bits: 8, group: 64 }) } },
  ],
  fuzz: (random) => {
    const K = 9 + random.integer(300);
    const bits = random.pick([4, 8] as const);
    const form = { bits, group: random.pick([64, 128, K]) };
    return {
      dims: { M: random.pick([1, 3, 20, 40]), ...weightDims(1 + random.integer(90), K, form) },
      ...(bits === 4 ? { without: ['b'] } : {}),
    };
  },
  part: (inputs, dims, _, random): Part => selectRows(gemmQuantized, 'M', inputs, dims, random),
  benchCases: ([8, 4] as const).flatMap((bits) =>
    [1, 8, 32].map((M) => ({
      dims: { M, ...weightDims(2048, 2048, { bits, group: bits === 8 ? 2048 : 128 }) },
      without: ['b'],
    })),
  ),
  cost: ({ M, N, K, P, W, L, S }, { bytesPerElement: size }) => ({
    flops: 2 * M * N * K,
    bytes: (M * K + M * N) * size + 4 * P * W * L + 4 * S * N,
  }),
});
