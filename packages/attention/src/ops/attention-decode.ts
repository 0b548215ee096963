/** Attention of single new tokens over a KV cache. */
import type { Random } from '@saccade/core';
import {
  type Dims,
  defineOp,
  FLOATS,
  INDICES,
  type OpCase,
  type Part,
  type Values,
  WIDE_FLOATS,
} from '@saccade/ops';
import { rowsOf } from '../path-part.ts';
import { softmax } from '../softmax.ts';

/**
 * outₙ = softmax(scale·qₙ·kᵀ)·v,   lseₙ = ln Σ exp of the scores
 *
 * over the cache slots of row n's spans, in their order.
 *
 * Rows that share a prompt name the same slots, so the prompt is stored and read once.
 * The formula is that of `attention`: Vaswani et al. 2017, arXiv:1706.03762, eq. 1.
 *
 * q [N, H, D]; kCache, vCache [C, G, D]; spans [R, 2] start and end (exclusive) slots;
 * spanOffsets [N + 1]: row n has the spans from spanOffsets[n] up to spanOffsets[n + 1].
 * lse [H, N] nats; a row that sees nothing gives −∞, and out 0. scale 0 stands for 1/√D.
 * window: of its slots but the last, the row's own, a row sees the last `window`; 0 for all.
 */
export const attentionDecode = defineOp({
  id: 'attentionDecode',
  inputs: {
    q: { axes: ['N', 'H', 'D'], dtypes: FLOATS },
    kCache: { axes: ['C', 'G', 'D'], dtypes: FLOATS },
    vCache: { axes: ['C', 'G', 'D'], dtypes: FLOATS },
    spans: { axes: ['R', 'U2'], dtypes: INDICES },
    spanOffsets: { axes: ['O'], dtypes: INDICES },
  },
  outputs: {
    out: { axes: ['N', 'H', 'D'], dtypes: FLOATS },
    lse: { axes: ['H', 'N'], dtypes: WIDE_FLOATS },
  },
  scalars: { scale: 0, window: 0 },

  check({ N, H, G, U2, O }) {
    if (H % G !== 0) {
      return (
        `kCache has ${G} heads, q has ${H}; q's heads must be a multiple of the cache's. ` +
        'Reshape the cache to a divisor of the heads of q.'
      );
    }
    if (U2 !== 2) return `a span has ${U2} numbers, expected start, end. Pass spans as [R, 2].`;
    if (O !== N + 1) {
      return (
        `spanOffsets has ${O} numbers for ${N} rows, expected ${N + 1}. ` +
        'Pass where the spans of each row begin, and their count at the end.'
      );
    }
    return undefined;
  },

  forward({ q, kCache, vCache, spans, spanOffsets }, { N, H, G, D }, { scale, window }) {
    const factor = scale === 0 ? 1 / Math.sqrt(D) : scale;
    const out = new Float64Array(N * H * D);
    const lse = new Float64Array(H * N);
    for (let n = 0; n < N; n++) {
      const slots = slotsSeen(spans, spanOffsets, n, window);
      for (let h = 0; h < H; h++) {
        const g = Math.floor(h / (H / G));
        const row = (n * H + h) * D;
        const scores = slots.map((slot) => {
          let dot = 0;
          for (let d = 0; d < D; d++) dot += q[row + d] * kCache[(slot * G + g) * D + d];
          return dot * factor;
        });
        const { p, lse: sum } = softmax(scores);
        lse[h * N + n] = sum;
        slots.forEach((slot, i) => {
          for (let d = 0; d < D; d++) out[row + d] += p[i] * vCache[(slot * G + g) * D + d];
        });
      }
    }
    return { out, lse };
  },

  sample: drawSpans,
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
  cases: [
    { dims: { N: 1, H: 1, G: 1, D: 2, C: 1, R: 1, U2: 2, O: 2 } },
    { dims: { N: 3, H: 4, G: 2, D: 5, C: 9, R: 7, U2: 2, O: 4 } },
    { dims: { N: 5, H: 7, G: 1, D: 16, C: 64, R: 4, U2: 2, O: 6 }, scalars: { scale: 0.5 } },
    { dims: { N: 8, H: 2, G: 2, D: 32, C: 65, R: 16, U2: 2, O: 9 } },
    { dims: { N: 17, H: 4, G: 2, D: 80, C: 300, R: 40, U2: 2, O: 18 } },
    { dims: { N: 6, H: 16, G: 1, D: 16, C: 300, R: 9, U2: 2, O: 7 } },
    { dims: { N: 9, H: 4, G: 2, D: 8, C: 200, R: 12, U2: 2, O: 10 }, scalars: { window: 64 } },
    { dims: { N: 5, H: 2, G: 2, D: 8, C: 90, R: 8, U2: 2, O: 6 }, scalars: { window: 3 } },
  ],
  fuzz(random) {
    const N = 1 + random.integer(20);
    const G = random.pick([1, 2, 3]);
    const H = G * random.pick([1, 2, 4, 7]);
    const D = random.pick([2, 5, 8, 16, 24, 32, 64]);
    const C = random.pick([1, 7, 63, 64, 65, 128, 200]);
    return {
      dims: { N, H, G, D, C, R: 1 + random.integer(3 * N), U2: 2, O: N + 1 },
      scalars: { window: random.pick([0, 0, 0, 1, 63, 64, 100]) },
    };
  },
  part: rowPart,
  benchCases: [
    { dims: { N: 64, H: 4, G: 2, D: 32, C: 16_384, R: 128, U2: 2, O: 65 } },
    ownCacheCase(8, 3000, { H: 16, G: 2, D: 128 }),
  ],
  // A slot that several rows see is read once.
  cost({ N, H, G, D, C }, { bytesPerElement: size, indices, scalars: { window } }) {
    const isSeen = new Uint8Array(C);
    let pairs = 0;
    for (let n = 0; n < N; n++) {
      const slots = slotsSeen(indices.spans, indices.spanOffsets, n, window);
      pairs += slots.length;
      for (const slot of slots) isSeen[slot] = 1;
    }
    const slots = isSeen.reduce((sum, seen) => sum + seen, 0);
    return {
      flops: 4 * H * D * pairs,
      bytes: (2 * N * H * D + 2 * slots * G * D) * size + 4 * H * N,
    };
  },
});

/** N rows that share no keys. */
function ownCacheCase(N: number, length: number, heads: Dims): OpCase {
  const spans = Int32Array.from({ length: 2 * N }, (_, i) => Math.ceil(i / 2) * length);
  const spanOffsets = Int32Array.from({ length: N + 1 }, (_, n) => n);
  return {
    dims: { N, ...heads, C: N * length, R: N, U2: 2, O: N + 1 },
    indices: { spans, spanOffsets },
  };
}

/** The cache slots row n sees, its own last. */
function slotsSeen(
  spans: Values[string],
  spanOffsets: Values[string],
  n: number,
  window: number,
): number[] {
  return slotsOf(spans, spanOffsets, n).slice(window === 0 ? 0 : -window - 1);
}

/** The cache slots of row n, in logical order. */
function slotsOf(spans: Values[string], spanOffsets: Values[string], n: number): number[] {
  const slots: number[] = [];
  for (let r = spanOffsets[n]; r < spanOffsets[n + 1]; r++) {
    for (let slot = spans[2 * r]; slot < spans[2 * r + 1]; slot++) slots.push(slot);
  }
  return slots;
}

/** Spans of random places and lengths, some empty, assigned to the rows at random. */
function drawSpans({ N, C, R }: Dims, random: Random): Values {
  const spans = new Int32Array(2 * R);
  for (let r = 0; r < R; r++) {
    const start = random.integer(C);
    const isEmpty = random.integer(8) === 0;
    spans[2 * r] = start;
    spans[2 * r + 1] = isEmpty ? start : start + 1 + random.integer(C - start);
  }
  const counts = new Int32Array(N);
  for (let r = 0; r < R; r++) counts[random.integer(N)]++;
  const spanOffsets = new Int32Array(N + 1);
  for (let n = 0; n < N; n++) spanOffsets[n + 1] = spanOffsets[n] + counts[n];
  return { spans, spanOffsets };
}

/**
 * Some rows of the batch, shuffled, over a cache that holds only the slots they see, in other
 * places.
 */
function rowPart(inputs: Values, dims: Dims, _: unknown, random: Random): Part {
  const { N, H, G, D } = dims;
  const all = Array.from({ length: N }, (_, n) => n);
  const rows = random.shuffle(all).slice(0, 1 + random.integer(N));
  const slots: number[] = [];
  const spans: number[] = [];
  const spanOffsets = [0];
  for (const n of rows) {
    const seen = slotsOf(inputs.spans, inputs.spanOffsets, n);
    // Cut in two at a random place: only the logical order may matter.
    const cut = slots.length + random.integer(seen.length + 1);
    spans.push(slots.length, cut, cut, slots.length + seen.length);
    spanOffsets.push(spans.length / 2);
    slots.push(...seen);
  }
  if (slots.length === 0) slots.push(0);
  const queries = rowsOf(rows, H * D);
  const lse = Array.from({ length: H }, (_, h) => rows.map((n) => h * N + n)).flat();
  const cache = rowsOf(slots, G * D);
  return {
    dims: { ...dims, N: rows.length, C: slots.length, R: spans.length / 2, O: rows.length + 1 },
    indices: { spans: Int32Array.from(spans), spanOffsets: Int32Array.from(spanOffsets) },
    inputs: { q: queries, kCache: cache, vCache: cache },
    outputs: { out: queries, lse: Int32Array.from(lse) },
  };
}
