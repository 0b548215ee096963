/**
 * out = softmax(scale·q·kᵀ + mask)·v over a forest of segments, in three stages.
 *
 * Scores: a thread owns one query, key and head; keys that a query does not see get a large
 * negative number, because a shader has no −∞. Statistics: a thread owns the ln Σ exp of one query
 * and head. Weighted values: a thread owns one element of the output. A query reads keys and values
 * it sees and no others.
 */
import { readForest } from '../forest.ts';
import { type GpuJsKernel, named } from '../kernel.ts';

const TOKENS_MOST = 1024;
const HEAD_MOST = 128;
/** Elements of an array: gpu.js computes places in float32, exact up to here. */
const ELEMENTS_MOST = 2 ** 24;
/** A score or lse at or below this stands for nothing seen. */
const UNSEEN = '-1.0e38';

const SCORES = `function (q, k, start, kvEnd, position, scale) {
  const key = this.thread.x;
  const query = this.thread.y;
  const head = this.thread.z;
  const keyHead = Math.floor((head + 0.5) / this.constants.ratio);
  let sees = 0;
  if (query < kvEnd[key]) {
    sees = 1;
  }
  if (this.constants.causal > 0) {
    if (key > query) {
      sees = 0;
    }
  } else {
    if (start[key] > query) {
      sees = 0;
    }
  }
  if (this.constants.window > 0) {
    if (position[key] < position[query] - this.constants.window) {
      sees = 0;
    }
  }
  let score = -3.0e38;
  if (sees > 0) {
    let dot = 0.0;
    for (let d = 0; d < this.constants.D; d++) {
      dot += q[query][head][d] * k[key][keyHead][d];
    }
    score = dot * scale;
  }
  return score;
}`;

// `Seen` means not below UNSEEN, so NaN counts as seen and shows up.
const STATISTICS = `function (scores) {
  const query = this.thread.x;
  const head = this.thread.y;
  let m = -3.0e38;
  for (let key = 0; key < this.constants.T; key++) {
    m = Math.max(m, scores[head][query][key]);
  }
  let s = 0.0;
  for (let key = 0; key < this.constants.T; key++) {
    const score = scores[head][query][key];
    if (!(score < ${UNSEEN})) {
      s += Math.exp(score - m);
    }
  }
  let lse = m;
  if (!(s === 0.0)) {
    lse = m + Math.log(s);
  }
  return lse;
}`;

const VALUES = `function (scores, statistics, v) {
  const d = this.thread.x;
  const head = this.thread.y;
  const query = this.thread.z;
  const keyHead = Math.floor((head + 0.5) / this.constants.ratio);
  const lse = statistics[head][query];
  let sum = 0.0;
  for (let key = 0; key < this.constants.T; key++) {
    const score = scores[head][query][key];
    if (!(score < ${UNSEEN})) {
      sum += Math.exp(score - lse) * v[key][keyHead][d];
    }
  }
  return sum;
}`;

export const attention: GpuJsKernel = {
  op: 'attention',
  signature:
    "q[T,H,D]' k[T,G,D]' v[T,G,D]' segments[S,P]# -> out[T,H,D]' lse[H,T]'! ; " +
    'scale causal window',

  refuse({ T = 0, H = 0, D = 0 }) {
    if (T > TOKENS_MOST) return `T is ${T}; gpu.js takes at most ${TOKENS_MOST} tokens here.`;
    if (D > HEAD_MOST) return `D is ${D}; gpu.js takes at most ${HEAD_MOST} here.`;
    const elements = Math.max(H * T * T, T * H * D);
    if (elements <= ELEMENTS_MOST) return undefined;
    return `${H} heads make ${elements} scores; gpu.js takes at most ${ELEMENTS_MOST} here.`;
  },

  forward({ dims, scalars, floats, indices, stages }) {
    const { T = 0, H = 0, G = 1, D = 0 } = dims;
    const { start, kvEnd, position } = readForest(named(indices, 'segments'), T);
    const [out, lse] = [named(floats, 'out'), named(floats, 'lse')];
    if (out.length === 0 && lse.length === 0) return;
    const { scale = 0, causal = 1, window = 0 } = scalars;
    const ratio = H / G;
    const scores = stages.keep(
      { source: SCORES, output: [T, T, H], constants: { D, ratio, causal, window } },
      [
        { data: named(floats, 'q'), shape: [T, H, D] },
        { data: named(floats, 'k'), shape: [T, G, D] },
        { data: start, shape: [T] },
        { data: kvEnd, shape: [T] },
        { data: position, shape: [T] },
        scale === 0 ? 1 / Math.sqrt(D) : scale,
      ],
    );
    try {
      lse.set(stages.read({ source: STATISTICS, output: [T, H], constants: { T } }, [scores]));
      const values = { source: VALUES, output: [D, H, T], constants: { T, ratio } };
      const statistics = { data: lse, shape: [H, T] };
      const v = { data: named(floats, 'v'), shape: [T, G, D] };
      out.set(stages.read(values, [scores, statistics, v]));
    } finally {
      stages.release(scores);
    }
    for (let i = 0; i < lse.length; i++) {
      if ((lse[i] as number) < Number(UNSEEN)) lse[i] = Number.NEGATIVE_INFINITY;
    }
  },
};
