/** Attention over a forest of segments: packed sequences and shared prefixes with one mask rule. */
import type { Random } from '@saccade/core';
import {
  type Dims,
  defineOp,
  FLOATS,
  INDICES,
  type OpCase,
  type Scalars,
  type Values,
  WIDE_FLOATS,
} from '@saccade/ops';
import { drawCase, drawSegments } from '../draw-segments.ts';
import { pathPart } from '../path-part.ts';
import { segmentAt, subtreeEndsOf } from '../segments.ts';
import { softmax } from '../softmax.ts';

/** True where query token q sees key token k. */
type Mask = (q: number, k: number) => boolean;

/**
 * causal: k ≤ q < kvEnd[k].   Not causal: start[k] ≤ q < kvEnd[k], start and kvEnd being the start
 * of k's segment and the end of its subtree: q sees its own segment and its ancestors'.
 * With a window of w > 0, of these only keys with position(k) ≥ position(q) − w, the position being
 * the distance from the root.
 */
function maskOf(segments: Values[string], T: number, { causal, window }: Scalars): Mask {
  const subtreeEnds = subtreeEndsOf(segments);
  const start = new Int32Array(T);
  const kvEnd = new Int32Array(T);
  const position = new Int32Array(T);
  for (let s = 0; s < segments.length / 3; s++) {
    const segment = segmentAt(segments, s);
    start.fill(segment.start, segment.start, segment.end);
    kvEnd.fill(subtreeEnds[s], segment.start, segment.end);
    const before =
      segment.parent < 0 ? 0 : position[segmentAt(segments, segment.parent).end - 1] + 1;
    for (let t = segment.start; t < segment.end; t++) position[t] = before + t - segment.start;
  }
  const isNear: Mask = (q, k) => window === 0 || position[k] >= position[q] - window;
  if (causal !== 0) return (q, k) => k <= q && q < kvEnd[k] && isNear(q, k);
  return (q, k) => start[k] <= q && q < kvEnd[k] && isNear(q, k);
}

/** One row of attention: the keys it sees, their probabilities, and the log of their sum. */
function attentionRow(
  { q, k }: Values,
  t: number,
  h: number,
  { T, H, G, D }: Dims,
  scale: number,
  sees: Mask,
): { keys: number[]; p: number[]; lse: number } {
  const g = Math.floor(h / (H / G));
  const keys: number[] = [];
  const scores: number[] = [];
  for (let j = 0; j < T; j++) {
    if (!sees(t, j)) continue;
    let dot = 0;
    for (let d = 0; d < D; d++) dot += q[(t * H + h) * D + d] * k[(j * G + g) * D + d];
    keys.push(j);
    scores.push(dot * scale);
  }
  return { keys, ...softmax(scores) };
}

const scaleOf = ({ D }: Dims, { scale }: Scalars): number =>
  scale === 0 ? 1 / Math.sqrt(D) : scale;

/**
 * out = softmax(scale·q·kᵀ + mask)·v,   lse = ln Σ exp of the seen scores
 *
 *   δ = Σ_d ∂out∘out − ∂lse     ∂s = p∘(∂out·vᵀ − δ)
 *   ∂q = scale·∂s·k       ∂k = scale·∂sᵀ·q       ∂v = pᵀ·∂out
 *
 * Vaswani et al. 2017, arXiv:1706.03762, eq. 1; the backward as in Dao 2023, arXiv:2307.08691.
 * A key of a shared prefix collects the gradients of every sequence that continues it.
 *
 * q [T, H, D]; k, v [T, G, D], query head h reads key head ⌊h/(H/G)⌋; segments [S, 3] as in
 * `SegmentPlan`; out [T, H, D]; lse [H, T] nats, −∞ where nothing is seen, with out 0.
 * scale 0 stands for 1/√D. window: how many keys before its own a query sees, as the left side of
 * FlashAttention's window_size; 0 for all.
 */
export const attention = defineOp({
  id: 'attention',
  inputs: {
    q: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    k: { axes: ['T', 'G', 'D'], dtypes: FLOATS, grad: true },
    v: { axes: ['T', 'G', 'D'], dtypes: FLOATS, grad: true },
    segments: { axes: ['S', 'P'], dtypes: INDICES },
  },
  outputs: {
    out: { axes: ['T', 'H', 'D'], dtypes: FLOATS, grad: true },
    lse: { axes: ['H', 'T'], dtypes: WIDE_FLOATS, grad: true },
  },
  scalars: { scale: 0, causal: 1, window: 0 },

  check({ H, G, P }) {
    if (H % G !== 0) {
      return (
        `k has ${G} heads, q has ${H}; q's heads must be a multiple of k's. ` +
        'Reshape k and v to a divisor of the heads of q.'
      );
    }
    if (P !== 3) {
      return (
        `a segment has ${P} numbers, expected start, end, parent. ` +
        'Pass plan.segments as [S, 3].'
      );
    }
    return undefined;
  },

  forward(inputs, dims, scalars) {
    const { T, H, G, D } = dims;
    const { v, segments } = inputs;
    const scale = scaleOf(dims, scalars);
    const sees = maskOf(segments, T, scalars);
    const out = new Float64Array(T * H * D);
    const lse = new Float64Array(H * T);
    for (let h = 0; h < H; h++) {
      const g = Math.floor(h / (H / G));
      for (let t = 0; t < T; t++) {
        const row = attentionRow(inputs, t, h, dims, scale, sees);
        lse[h * T + t] = row.lse;
        row.keys.forEach((j, i) => {
          for (let d = 0; d < D; d++) {
            out[(t * H + h) * D + d] += row.p[i] * v[(j * G + g) * D + d];
          }
        });
      }
    }
    return { out, lse };
  },

  backward({ out: dOut, lse: dLse }, saved, dims, scalars) {
    const { T, H, G, D } = dims;
    const { q, k, v, segments } = saved;
    const scale = scaleOf(dims, scalars);
    const sees = maskOf(segments, T, scalars);
    const dq = new Float64Array(T * H * D);
    const dk = new Float64Array(T * G * D);
    const dv = new Float64Array(T * G * D);
    for (let h = 0; h < H; h++) {
      const g = Math.floor(h / (H / G));
      for (let t = 0; t < T; t++) {
        const { keys, p } = attentionRow(saved, t, h, dims, scale, sees);
        const row = (t * H + h) * D;
        const dp = keys.map((j) => {
          let dot = 0;
          for (let d = 0; d < D; d++) dot += dOut[row + d] * v[(j * G + g) * D + d];
          return dot;
        });
        // Σ_d ∂out∘out = Σ_j p∘∂p, from the inputs alone.
        const delta =
          p.reduce((sum, probability, i) => sum + probability * dp[i], 0) - dLse[h * T + t];
        keys.forEach((j, i) => {
          const ds = p[i] * (dp[i] - delta);
          const key = (j * G + g) * D;
          for (let d = 0; d < D; d++) {
            dq[row + d] += scale * ds * k[key + d];
            dk[key + d] += scale * ds * q[row + d];
            dv[key + d] += p[i] * dOut[row + d];
          }
        });
      }
    }
    return { q: dq, k: dk, v: dv };
  },

  sample: ({ T, S }: Dims, random: Random) => ({ segments: drawSegments(T, S, random) }),
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  // In bf16 δ comes from an output rounded to 8 bits; where one key has nearly all the weight, ∂s is
  // a difference of nearly equal numbers.
  gradTolerance: { f32: 1e-5, bf16: 2e-2, f16: 2e-3 },
  cases: [
    { dims: { T: 1, H: 1, G: 1, D: 2, S: 1, P: 3 } },
    { dims: { T: 5, H: 2, G: 1, D: 3, S: 5, P: 3 } },
    { dims: { T: 9, H: 3, G: 3, D: 8, S: 2, P: 3 }, scalars: { causal: 0 } },
    { dims: { T: 17, H: 8, G: 2, D: 16, S: 4, P: 3 } },
    { dims: { T: 63, H: 2, G: 1, D: 32, S: 1, P: 3 }, scalars: { scale: 0.5 } },
    { dims: { T: 64, H: 1, G: 1, D: 80, S: 1, P: 3 }, scalars: { causal: 0 } },
    { dims: { T: 65, H: 2, G: 2, D: 32, S: 6, P: 3 } },
    { dims: { T: 130, H: 4, G: 2, D: 16, S: 7, P: 3 }, scalars: { causal: 0 } },
    { dims: { T: 200, H: 3, G: 1, D: 8, S: 9, P: 3 } },
    { dims: { T: 129, H: 1, G: 1, D: 64, S: 1, P: 3 }, scalars: { scale: 2 } },
    { dims: { T: 17, H: 2, G: 1, D: 3, S: 3, P: 3 }, scalars: { window: 1 } },
    { dims: { T: 200, H: 2, G: 1, D: 8, S: 1, P: 3 }, scalars: { window: 64 } },
    { dims: { T: 180, H: 4, G: 2, D: 16, S: 6, P: 3 }, scalars: { window: 20 } },
    { dims: { T: 150, H: 2, G: 2, D: 8, S: 4, P: 3 }, scalars: { causal: 0, window: 30 } },
  ],
  fuzz: drawCase,
  part: pathPart,
  benchCases: [
    { dims: { T: 256, H: 4, G: 4, D: 64, S: 1, P: 3 }, gradOf: ['out'] },
    { dims: { T: 256, H: 4, G: 4, D: 64, S: 1, P: 3 }, gradOf: ['out'], scalars: { causal: 0 } },
    { dims: { T: 256, H: 2, G: 2, D: 128, S: 1, P: 3 }, gradOf: ['out'] },
    { dims: { T: 1024, H: 8, G: 8, D: 128, S: 1, P: 3 }, gradOf: ['out'] },
    { dims: { T: 1024, H: 8, G: 8, D: 128, S: 1, P: 3 }, gradOf: ['out'], scalars: { causal: 0 } },
    { dims: { T: 1024, H: 16, G: 16, D: 64, S: 1, P: 3 }, gradOf: ['out'] },
    sharedPrefixCase(512, 128, 4, { H: 8, G: 8, D: 128 }),
    { dims: { T: 2048, H: 4, G: 2, D: 32, S: 9, P: 3 }, gradOf: ['out'] },
  ],
  cost: ({ T, H, G, D }, { bytesPerElement: size, indices, scalars }) => ({
    flops: 4 * H * D * pairsOf(indices.segments, scalars),
    bytes: (2 * T * H * D + 2 * T * G * D) * size + 4 * H * T,
  }),
  // Five products where the forward has two: scores again, ∂p, ∂q, ∂k and ∂v.
  backwardCost: ({ T, H, G, D }, { bytesPerElement: size, indices, scalars }) => ({
    flops: 10 * H * D * pairsOf(indices.segments, scalars),
    bytes: (4 * T * H * D + 4 * T * G * D) * size + 4 * H * T,
  }),
});

/** A prompt of P tokens and `group` responses of R tokens that continue it. */
function sharedPrefixCase(P: number, R: number, group: number, heads: Dims): OpCase {
  const rows = [0, P, -1];
  for (let g = 0; g < group; g++) rows.push(P + g * R, P + (g + 1) * R, 0);
  return {
    dims: { T: P + group * R, ...heads, S: 1 + group, P: 3 },
    indices: { segments: Int32Array.from(rows) },
    gradOf: ['out'],
  };
}

/** Number of pairs of a query and a key that it sees, for one head. */
function pairsOf(segments: Values[string], { causal, window }: Scalars): number {
  const depths: number[] = [];
  let pairs = 0;
  for (let s = 0; s < segments.length / 3; s++) {
    const { start, end, parent } = segmentAt(segments, s);
    const before = parent < 0 ? 0 : depths[parent];
    const after = before + end - start;
    depths.push(after);
    for (let position = before; position < after; position++) {
      const first = window === 0 ? 0 : Math.max(0, position - window);
      pairs += (causal !== 0 ? position + 1 : after) - first;
    }
  }
  return pairs;
}
