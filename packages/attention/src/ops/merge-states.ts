/** Attention over the union of two sets of keys, from its results over each. */
import type { Random } from '@saccade/core';
import { type Dims, defineOp, FLOATS, type Part, type Values, WIDE_FLOATS } from '@saccade/ops';
import { rowsOf } from '../path-part.ts';

/** The weight of each side in the whole, and the log-sum-exp of the whole. */
function shares(a: number, b: number): { alpha: number; beta: number; lse: number } {
  const max = Math.max(a, b);
  if (max === Number.NEGATIVE_INFINITY) return { alpha: 0, beta: 0, lse: max };
  const lse = max + Math.log(Math.exp(a - max) + Math.exp(b - max));
  return { alpha: Math.exp(a - lse), beta: Math.exp(b - lse), lse };
}

/**
 * lse = ln(e^aLse + e^bLse),   out = α·a + β·b,   α = e^(aLse − lse),  β = e^(bLse − lse)
 *
 *   ∂a = α·∂out     ∂aLse = α·(β·Σ_d ∂out∘(a − b) + ∂lse)
 *   ∂b = β·∂out     ∂bLse = β·(α·Σ_d ∂out∘(b − a) + ∂lse)
 *
 * Ye et al. 2025 (FlashInfer), arXiv:2501.01005, section 2.2. With the gradient that `attention`
 * takes for its lse, attention in parts has the gradients of attention in one.
 *
 * a, b [T, H, D] and aLse, bLse [H, T] nats, as `attention` gives them over disjoint keys; −∞ for
 * a side that saw nothing. Where both saw nothing, out is 0 and lse −∞.
 */
export const mergeStates = defineOp({
  id: 'mergeStates',
  inputs: {
    a: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    aLse: { axes: ['H', 'T'], dtypes: WIDE_FLOATS, grad: true },
    b: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    bLse: { axes: ['H', 'T'], dtypes: WIDE_FLOATS, grad: true },
  },
  outputs: {
    out: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    lse: { axes: ['H', 'T'], dtypes: WIDE_FLOATS, grad: true },
  },
  scalars: {},

  forward({ a, aLse, b, bLse }, { T, H, D }) {
    const out = new Float64Array(T * H * D);
    const lse = new Float64Array(H * T);
    for (let h = 0; h < H; h++) {
      for (let t = 0; t < T; t++) {
        const whole = shares(aLse[h * T + t], bLse[h * T + t]);
        lse[h * T + t] = whole.lse;
        const row = (t * H + h) * D;
        for (let i = row; i < row + D; i++) out[i] = whole.alpha * a[i] + whole.beta * b[i];
      }
    }
    return { out, lse };
  },

  backward({ out: dOut, lse: dLse }, { a, aLse, b, bLse }, { T, H, D }) {
    const da = new Float64Array(T * H * D);
    const db = new Float64Array(T * H * D);
    const daLse = new Float64Array(H * T);
    const dbLse = new Float64Array(H * T);
    for (let h = 0; h < H; h++) {
      for (let t = 0; t < T; t++) {
        const at = h * T + t;
        const { alpha, beta } = shares(aLse[at], bLse[at]);
        const row = (t * H + h) * D;
        let difference = 0;
        for (let i = row; i < row + D; i++) {
          da[i] = alpha * dOut[i];
          db[i] = beta * dOut[i];
          difference += dOut[i] * (a[i] - b[i]);
        }
        daLse[at] = alpha * (beta * difference + dLse[at]);
        dbLse[at] = beta * (dLse[at] - alpha * difference);
      }
    }
    return { a: da, aLse: daLse, b: db, bLse: dbLse };
  },

  sample: drawSides,
  tolerance: { f32: 2e-6, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 2e-6, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { T: 1, H: 1, D: 1 } },
    { dims: { T: 3, H: 2, D: 5 } },
    { dims: { T: 17, H: 3, D: 16 } },
    { dims: { T: 33, H: 2, D: 40 } },
  ],
  fuzz: (random) => ({
    dims: {
      T: random.pick([1, 2, 15, 16, 31, 50]),
      H: 1 + random.integer(5),
      D: random.pick([1, 3, 8, 16, 24, 64, 80]),
    },
  }),
  part: rowPart,
  benchCases: [{ dims: { T: 1024, H: 8, D: 128 } }],
  cost: ({ T, H, D }, { bytesPerElement: size }) => ({
    flops: 3 * T * H * D,
    bytes: 3 * T * H * (D * size + 4),
  }),
  backwardCost: ({ T, H, D }, { bytesPerElement: size }) => ({
    flops: 5 * T * H * D,
    bytes: 5 * T * H * (D * size + 4),
  }),
});

/** Random log-sum-exps; sometimes one of the two is −∞. */
function drawSides({ T, H }: Dims, random: Random): Values {
  const aLse = Float64Array.from({ length: H * T }, () => random.normal());
  const bLse = Float64Array.from({ length: H * T }, () => random.normal());
  for (let i = 0; i < H * T; i++) {
    const empty = random.pick([aLse, bLse, undefined, undefined, undefined, undefined]);
    if (empty !== undefined) empty[i] = Number.NEGATIVE_INFINITY;
  }
  return { aLse, bLse };
}

/** Some tokens, shuffled. */
function rowPart(_: Values, dims: Dims, __: unknown, random: Random): Part {
  const { T, H, D } = dims;
  const all = Array.from({ length: T }, (_, t) => t);
  const rows = random.shuffle(all).slice(0, 1 + random.integer(T));
  const out = rowsOf(rows, H * D);
  const lse = Int32Array.from(
    Array.from({ length: H }, (_, h) => rows.map((t) => h * T + t)).flat(),
  );
  return {
    dims: { ...dims, T: rows.length },
    indices: {},
    inputs: { a: out, aLse: lse, b: out, bLse: lse },
    outputs: { out, lse },
  };
}
