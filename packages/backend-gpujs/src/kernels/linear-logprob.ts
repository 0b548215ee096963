/**
 * Log-probability and entropy of targets under softmax(hidden·weightᵀ/temperature).
 *
 * A thread owns 64 entries of the vocabulary for one row and gives their m = max z, s = Σ e^(z−m),
 * t = Σ e^(z−m)·(z−m) and, if it meets the target, its logit. The host merges these in order, in
 * float64: lse = m + ln s, entropy = ln s − t/s, logprob = z_target − lse.
 */
import { type GpuJsKernel, named } from '../kernel.ts';

/** Entries of one thread. */
const FOLD = 64;
/** Longer loops in one thread stop a display's GPU. */
const DEPTH_MOST = 2048;
/** Elements of an array: gpu.js computes places in float32, exact up to here. */
const ELEMENTS_MOST = 2 ** 24;

// Loop bounds are constants: gpu.js unrolls nothing, but checks them. The first entry of a thread
// is always in the vocabulary, so m never stays at its start.
const SOURCE = `function (hidden, weight, targets, inverse) {
  const n = this.thread.y;
  const first = this.thread.x * ${FOLD};
  let m = -3.0e38;
  let s = 0.0;
  let t = 0.0;
  let chosen = 0.0;
  if (targets[n] >= 0.0) {
    for (let j = 0; j < ${FOLD}; j++) {
      if (first + j < this.constants.V) {
        let dot = 0.0;
        for (let d = 0; d < this.constants.D; d++) {
          dot += hidden[n][d] * weight[first + j][d];
        }
        const z = dot * inverse;
        const highest = Math.max(m, z);
        const shift = Math.max(m - highest, -200.0);
        const scale = Math.exp(shift);
        const e = Math.exp(z - highest);
        t = scale * (t + shift * s) + e * (z - highest);
        s = scale * s + e;
        m = highest;
        if (targets[n] === first + j) {
          chosen = z;
        }
      }
    }
  }
  return [m, s, t, chosen];
}`;

export const linearLogprob: GpuJsKernel = {
  op: 'linearLogprob',
  signature:
    "hidden[N,D]' weight[V,D]+~ targets[N]# -> logprobs[N]'! entropy[N]'! lse[N]! ; temperature",

  refuse({ N = 0, D = 0, V = 0 }) {
    if (D > DEPTH_MOST) return `D is ${D}; gpu.js takes at most ${DEPTH_MOST} here.`;
    const elements = Math.max(N * D, V * D, 4 * N * Math.ceil(V / FOLD));
    if (elements <= ELEMENTS_MOST) return undefined;
    return `an array has ${elements} elements; gpu.js takes at most ${ELEMENTS_MOST} here.`;
  },

  forward({ dims: { N = 0, D = 0, V = 0 }, scalars, floats, indices, stages }) {
    const temperature = scalars.temperature ?? Number.NaN;
    if (!(temperature > 0)) {
      throw new RangeError(`temperature is ${temperature}, expected more than 0.`);
    }
    const targets = named(indices, 'targets');
    const wrong = targets.findIndex((target) => target < -1 || target >= V);
    if (wrong >= 0) {
      throw new RangeError(
        `targets[${wrong}] is ${targets[wrong]}; expected at least -1 and below ${V}. ` +
          'Check the indices.',
      );
    }
    const results = ['logprobs', 'entropy', 'lse'].map((name) => named(floats, name));
    for (const result of results) result.fill(0);
    const [logprobs, entropy, lse] = results as [Float32Array, Float32Array, Float32Array];
    if (targets.every((target) => target < 0)) return;
    const folds = Math.ceil(V / FOLD);
    const parts = stages.read({ source: SOURCE, output: [folds, N], constants: { D, V } }, [
      { data: named(floats, 'hidden'), shape: [N, D] },
      { data: named(floats, 'weight'), shape: [V, D] },
      { data: Float32Array.from(targets), shape: [N] },
      1 / temperature,
    ]);
    targets.forEach((target, n) => {
      if (target < 0) return;
      const { max, logSum, mean } = merge(parts.subarray(4 * n * folds, 4 * (n + 1) * folds));
      const chosen = parts[4 * (n * folds + Math.floor(target / FOLD)) + 3] ?? Number.NaN;
      logprobs[n] = chosen - max - logSum;
      entropy[n] = logSum - mean;
      lse[n] = max + logSum;
    });
  },
};

/** Over all entries: largest logit, ln Σ e^(z−max), and mean of z − max under the softmax. */
function merge(parts: Float32Array): { max: number; logSum: number; mean: number } {
  let max = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < parts.length; i += 4) max = Math.max(max, parts[i] as number);
  let [sum, weighted] = [0, 0];
  for (let i = 0; i < parts.length; i += 4) {
    const [m, s, t] = parts.subarray(i, i + 3) as unknown as [number, number, number];
    const scale = Math.exp(m - max);
    sum += scale * s;
    weighted += scale * (t + (m - max) * s);
  }
  return { max, logSum: Math.log(sum), mean: weighted / sum };
}
