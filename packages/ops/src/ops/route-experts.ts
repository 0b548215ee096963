/** The router of a mixture of experts: which experts a token goes to, and with what weights. */
import type { Random } from '@saccade/core';
import {
  type Dims,
  defineOp,
  FLOATS,
  INDICES,
  type Part,
  type Values,
  WIDE_FLOATS,
} from '../op.ts';
import { selectRows } from '../select-rows.ts';

/** The K experts of row t with the largest logits, largest first; of equal ones the lower index. */
function largest(logits: Values[string], t: number, { E, K }: Dims): readonly number[] {
  const order = Array.from({ length: E }, (_, e) => e);
  return order.sort((a, b) => logits[t * E + b] - logits[t * E + a] || a - b).slice(0, K);
}

/** softmax over some numbers. */
function softmax(values: readonly number[]): readonly number[] {
  const most = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

const rowOf = (values: Values[string], t: number, width: number): readonly number[] =>
  Array.from(values.subarray(t * width, (t + 1) * width));

/**
 * weightsₜₖ = pₜ[expertsₜₖ],  p = softmax(logits); with normalize ≠ 0 divided by Σₖ weightsₜₖ
 *
 *   normalized:      s = w∘(∂w − ⟨w, ∂w⟩),  ∂logits = s added up at the row's experts, else 0
 *   not normalized:  g = ∂w added up at the row's experts,  ∂logits = p∘(g − ⟨w, ∂w⟩)
 *
 * Shazeer et al. 2017, arXiv:1701.06538, eq. 3 to 5 without noise, in the order of Qwen3-MoE: softmax
 * first, then the top K. normalize is its `norm_topk_prob`.
 *
 * logits [T, E]. given [T, K]: a row of −1 is routed to the K experts with the largest logits, largest
 * first, of equal ones the lower index; any other row names its experts, in [0, E), as a trainer does
 * that replays the routing of its sampler. experts [T, K]: those chosen or given, constants to the
 * gradient. weights [T, K], never bf16.
 */
export const routeExperts = defineOp({
  id: 'routeExperts',
  inputs: {
    logits: { axes: ['T', 'E'], dtypes: FLOATS, grad: true },
    given: { axes: ['T', 'K'], dtypes: INDICES },
  },
  outputs: {
    weights: { axes: ['T', 'K'], dtypes: WIDE_FLOATS, grad: true },
    experts: { axes: ['T', 'K'], dtypes: INDICES },
  },
  scalars: { normalize: 1 },

  check: ({ E, K }) =>
    K <= E
      ? undefined
      : `given has room for ${K} experts a token, the logits are of ${E}. ` +
        `Pass given as [T, K], K at most ${E}.`,

  forward({ logits, given }, dims, { normalize }) {
    const { T, E, K } = dims;
    const weights = new Float64Array(T * K);
    const experts = new Int32Array(T * K);
    for (let t = 0; t < T; t++) {
      const isGiven = K > 0 && given[t * K] !== -1;
      const chosen = isGiven ? rowOf(given, t, K) : largest(logits, t, dims);
      const row = rowOf(logits, t, E);
      const p = softmax(normalize === 0 ? row : chosen.map((e) => row[e]));
      experts.set(chosen, t * K);
      weights.set(normalize === 0 ? chosen.map((e) => p[e]) : p, t * K);
    }
    return { weights, experts };
  },

  backward({ weights: dw }, { logits, weights: w, experts }, { T, E, K }, { normalize }) {
    const dLogits = new Float64Array(T * E);
    for (let t = 0; t < T; t++) {
      let dot = 0;
      for (let k = t * K; k < (t + 1) * K; k++) dot += w[k] * dw[k];
      if (normalize === 0) {
        const p = softmax(rowOf(logits, t, E));
        for (let e = 0; e < E; e++) dLogits[t * E + e] = -p[e] * dot;
      }
      for (let k = t * K; k < (t + 1) * K; k++) {
        dLogits[t * E + experts[k]] += w[k] * (normalize === 0 ? dw[k] : dw[k] - dot);
      }
    }
    return { logits: dLogits };
  },

  // A third of the rows come with their experts. The logits of a token lie apart: where two change
  // places, the experts do, and nothing is differentiable.
  sample({ T, E, K }: Dims, random: Random) {
    const logits = new Float64Array(T * E);
    for (let t = 0; t < T; t++) {
      const ranks = random.shuffle(Array.from({ length: E }, (_, e) => e));
      const row = ranks.map((rank) => (5 * (rank + 0.4 * random.uniform())) / E - 2.5);
      logits.set(row, t * E);
    }
    const given = new Int32Array(T * K).fill(-1);
    for (let t = 0; t < T; t++) {
      if (random.integer(3) > 0) continue;
      const experts = random.shuffle(Array.from({ length: E }, (_, e) => e));
      given.set(experts.slice(0, K), t * K);
    }
    return { logits, given };
  },
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { T: 1, E: 1, K: 1 }, scalars: { normalize: 0 } },
    { dims: { T: 5, E: 7, K: 3 } },
    { dims: { T: 33, E: 8, K: 2 }, scalars: { normalize: 0 } },
    { dims: { T: 20, E: 130, K: 8 }, scalars: { normalize: 0 } },
    { dims: { T: 20, E: 130, K: 8 } },
  ],
  fuzz(random) {
    const E = 2 + random.integer(140);
    return {
      dims: { T: 1 + random.integer(70), E, K: 2 + random.integer(Math.min(E, 12) - 1) },
      scalars: { normalize: random.integer(2) },
    };
  },
  part: (inputs, dims, _, random): Part => selectRows(routeExperts, 'T', inputs, dims, random),
  benchCases: [{ dims: { T: 2048, E: 128, K: 8 } }],
  cost: ({ T, E, K }, { bytesPerElement: size }) => ({
    flops: T * (E * K + 12 * E),
    bytes: T * (E * size + 12 * K),
  }),
  backwardCost: ({ T, E, K }, { bytesPerElement: size }) => ({
    flops: T * (14 * E + 4 * K),
    bytes: T * (2 * E * size + 12 * K),
  }),
});
