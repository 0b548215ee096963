/** Sampling from the most likely tokens of a linear LM head, with their exact log-probability. */
import type { Random } from '@saccade/core';
import {
  type Dims,
  defineOp,
  FLOATS,
  INDICES,
  type Part,
  selectRows,
  WIDE_FLOATS,
} from '@saccade/ops';
import { gumbel } from '../gumbel.ts';
import { logSoftmaxRow } from '../log-softmax-row.ts';

/**
 * z = hidden·weightᵀ / temperature,   K = {j : zⱼ ≥ max(τk, τp, τm)}
 * token = argmax over K of zⱼ + gⱼ
 * logprob = z_token − ln Σ over K of exp zⱼ,   keptMass = Σ over K of pⱼ,   p = softmax(z)
 *
 * τk is the topK-th largest z (Fan et al. 2018, arXiv:1805.04833; topK 0: −∞). τp is the largest τ
 * for which the tokens with z ≥ τ have at least topP of the probability of those with z ≥ τk
 * (Holtzman et al. 2020, arXiv:1904.09751; topP 1: −∞). τm = max z + ln minP (Nguyen et al. 2024,
 * arXiv:2407.01082; minP 0: −∞). This is the order of Hugging Face transformers and of SGLang:
 * temperature, top-k, top-p, min-p. vLLM applies min-p before the others, which is the same unless
 * min-p and top-p both leave something out. A token that is exactly as likely as the last one kept
 * is kept too, so that the order of the vocabulary does not matter.
 *
 * The numbers gⱼ are those of `linearSample`, and where nothing is left out, so are token and
 * log-prob, bit for bit. Kernels compare float32 logits, and add float32 probabilities in units of
 * 2⁻³⁶ of the largest: two devices may keep other tokens where z or the mass is nearly at the
 * threshold.
 *
 * hidden [N, D]; weight [V, D]; keys [N, 4] words of 32 bits stored as int32; tokens [N];
 * logprobs [N] nats, of the distribution that was sampled from; keptMass [N] in (0, 1]: the
 * untruncated log-prob of the token is logprobs + ln keptMass.
 */
export const linearSampleTruncated = defineOp({
  id: 'linearSampleTruncated',
  inputs: {
    hidden: { axes: ['N', 'D'], dtypes: FLOATS },
    weight: { axes: ['V', 'D'], dtypes: FLOATS },
    keys: { axes: ['N', 'Q'], dtypes: INDICES },
  },
  outputs: {
    tokens: { axes: ['N'], dtypes: INDICES },
    logprobs: { axes: ['N'], dtypes: WIDE_FLOATS, measure: 'absolute' },
    keptMass: { axes: ['N'], dtypes: WIDE_FLOATS, measure: 'absolute' },
  },
  scalars: { temperature: 1, topK: 0, topP: 1, minP: 0 },

  check: ({ Q }) =>
    Q === 4 ? undefined : `a key has ${Q} words, expected 4. Pass keys as [N, 4].`,
  forward({ hidden, weight, keys }, { N, D, V }, scalars) {
    const tokens = new Int32Array(N);
    const logprobs = new Float64Array(N);
    const keptMass = new Float64Array(N);
    for (let n = 0; n < N; n++) {
      const { z, logP } = logSoftmaxRow(hidden, weight, n, { D, V }, scalars.temperature);
      const threshold = keptFrom(logP, scalars.topK, scalars.topP, scalars.minP);
      let best = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < V; j++) {
        if (logP[j] < threshold) continue;
        keptMass[n] += Math.exp(logP[j]);
        const score = z[j] + gumbel(keys, n, j);
        if (score > best) {
          best = score;
          tokens[n] = j;
        }
      }
      logprobs[n] = logP[tokens[n]] - Math.log(keptMass[n]);
    }
    return { tokens, logprobs, keptMass };
  },

  sample({ N, D, V }: Dims, random: Random) {
    return {
      keys: Int32Array.from({ length: 4 * N }, () => random.word() | 0),
      // Logits of variance 4: a token in ten has nine tenths of the mass.
      weight: Float64Array.from({ length: V * D }, () => (2 * random.normal()) / Math.sqrt(D)),
    };
  },
  tolerance: { f32: 2e-5, bf16: 1e-3, f16: 1e-3 },
  cases: [
    { dims: { N: 1, D: 1, V: 1, Q: 4 }, scalars: { topK: 1, topP: 0.5, minP: 0.5 } },
    { dims: { N: 3, D: 7, V: 5, Q: 4 }, scalars: { topK: 9 } },
    { dims: { N: 5, D: 33, V: 63, Q: 4 }, scalars: { temperature: 0.7, topK: 7 } },
    { dims: { N: 17, D: 64, V: 257, Q: 4 }, scalars: { topP: 0.9 } },
    { dims: { N: 9, D: 16, V: 66, Q: 4 }, scalars: { temperature: 1.5, minP: 0.1 } },
    { dims: { N: 6, D: 16, V: 300, Q: 4 }, scalars: { topP: 1e-6 } },
    { dims: { N: 4, D: 16, V: 4101, Q: 4 }, scalars: { topK: 200, topP: 0.8, minP: 0.02 } },
  ],
  fuzz: (random) => ({
    dims: {
      N: 1 + random.integer(40),
      D: 1 + random.integer(80),
      V: 1 + random.integer(600),
      Q: 4,
    },
    scalars: {
      temperature: random.pick([1, 1, 0.6, 2]),
      topK: random.pick([0, 0, 1, 5, 40, 600]),
      topP: random.pick([1, 1, 0.95, 0.5]),
      minP: random.pick([0, 0, 0.05, 1]),
    },
  }),
  part: (inputs, dims, _, random): Part =>
    selectRows(linearSampleTruncated, 'N', inputs, dims, random),
  benchCases: [
    { dims: { N: 128, D: 128, V: 512, Q: 4 }, scalars: { topP: 0.95 } },
    { dims: { N: 16, D: 256, V: 151_936, Q: 4 }, scalars: { topK: 50, topP: 0.95 } },
  ],
  cost: ({ N, D, V }, { bytesPerElement: size }) => ({
    flops: 2 * N * D * V,
    bytes: (N * D + V * D + N) * size + 24 * N,
  }),
});

/** The least log-probability that the three filters keep. */
function keptFrom(logP: Float64Array, topK: number, topP: number, minP: number): number {
  const sorted = logP.toSorted().reverse();
  const last = topK === 0 ? sorted.length : Math.min(topK, sorted.length);
  const byCount = sorted[last - 1];
  // All those as likely as the last one.
  const among = sorted.filter((one) => one >= byCount);
  const wanted = topP * among.reduce((sum, one) => sum + Math.exp(one), 0);
  let mass = 0;
  const reached = among.findIndex((one) => {
    mass += Math.exp(one);
    return mass >= wanted;
  });
  const byMass = topP === 1 || reached < 0 ? byCount : among[reached];
  return Math.max(byCount, byMass, sorted[0] + Math.log(minP));
}
