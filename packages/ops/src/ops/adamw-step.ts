/** One step of AdamW with clipping by the global norm. */
import { defineOp, type Part, WIDE_FLOATS } from '../op.ts';
import { selectRows } from '../select-rows.ts';

/**
 * One update of the parameters and both moments, in place.
 *
 *   g = grad · min(1, maxNorm / (√sumSquares + 10⁻⁶));  maxNorm 0: no clipping
 *   θ ← θ − learningRate·weightDecay·θ
 *   m ← β₁·m + (1 − β₁)·g
 *   v ← β₂·v + (1 − β₂)·g²
 *   θ ← θ − learningRate · m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + eps),  t = step, from 1
 *
 * Loshchilov and Hutter 2017, arXiv:1711.05101, algorithm 2, with the decay scaled by the learning
 * rate as in `torch.optim.AdamW`; the clipping is that of `torch.nn.utils.clip_grad_norm_`.
 *
 * param, m, v, grad [N]; sumSquares [U], U = 1: the square of the global gradient norm.
 */
export const adamwStep = defineOp({
  id: 'adamwStep',
  inputs: {
    param: { axes: ['N'], dtypes: WIDE_FLOATS },
    m: { axes: ['N'], dtypes: WIDE_FLOATS },
    v: { axes: ['N'], dtypes: WIDE_FLOATS },
    grad: { axes: ['N'], dtypes: WIDE_FLOATS },
    sumSquares: { axes: ['U'], dtypes: WIDE_FLOATS },
  },
  outputs: {
    param: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'param' },
    m: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'm' },
    v: { axes: ['N'], dtypes: WIDE_FLOATS, inPlaceOf: 'v' },
  },
  scalars: {
    learningRate: 1e-3,
    beta1: 0.9,
    beta2: 0.999,
    eps: 1e-8,
    weightDecay: 0,
    step: 1,
    maxNorm: 0,
  },

  check: ({ U }) =>
    U === 1 ? undefined : `sumSquares holds ${U} numbers, expected 1. Pass it as a [1] array.`,
  forward(inputs, { N }, { learningRate, beta1, beta2, eps, weightDecay, step, maxNorm }) {
    const param = Float64Array.from(inputs.param);
    const m = Float64Array.from(inputs.m);
    const v = Float64Array.from(inputs.v);
    const norm = Math.sqrt(inputs.sumSquares[0]);
    const scale = maxNorm === 0 ? 1 : Math.min(1, maxNorm / (norm + 1e-6));
    for (let n = 0; n < N; n++) {
      const g = inputs.grad[n] * scale;
      m[n] = beta1 * m[n] + (1 - beta1) * g;
      v[n] = beta2 * v[n] + (1 - beta2) * g * g;
      const mHat = m[n] / (1 - beta1 ** step);
      const vHat = v[n] / (1 - beta2 ** step);
      param[n] -= learningRate * weightDecay * param[n];
      param[n] -= (learningRate * mHat) / (Math.sqrt(vHat) + eps);
    }
    return { param, m, v };
  },

  sample: ({ N }, random) => ({
    v: Float64Array.from({ length: N }, () => random.normal() ** 2),
    sumSquares: Float64Array.of(N * (0.1 + random.uniform())),
  }),
  tolerance: { f32: 1e-5 },
  cases: [
    { dims: { N: 1, U: 1 } },
    { dims: { N: 7, U: 1 }, scalars: { weightDecay: 0.1, step: 2 } },
    { dims: { N: 65, U: 1 }, scalars: { maxNorm: 1, step: 1000 } },
    { dims: { N: 65, U: 1 }, scalars: { maxNorm: 1e6, step: 3 } },
    { dims: { N: 1001, U: 1 }, scalars: { learningRate: 0.1, weightDecay: 0.01, maxNorm: 1 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(2000), U: 1 },
    scalars: {
      learningRate: 10 ** -(1 + 4 * random.uniform()),
      weightDecay: random.pick([0, 0.01, 0.1]),
      step: 1 + random.integer(2000),
      maxNorm: random.pick([0, 0.5, 100]),
    },
  }),
  part: (inputs, dims, _, random): Part => selectRows(adamwStep, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 1 << 20, U: 1 } }],
  cost: ({ N }, { bytesPerElement: size }) => ({ flops: 14 * N, bytes: 7 * N * size }),
});
