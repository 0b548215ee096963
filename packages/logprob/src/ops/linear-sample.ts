/** Sampling from a linear LM head, with the exact log-probability of the drawn token. */
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
 * token = argmaxⱼ zⱼ + gⱼ,   z = hidden·weightᵀ / temperature,   gⱼ = −ln(−ln uⱼ)
 * logprob = z_token − lse
 *
 * The Gumbel-max trick: Maddison et al. 2014, arXiv:1411.0030, section 2. uⱼ is word j mod 4 of
 * Philox4x32-10 at counter (⌊j/4⌋, keys₂, keys₃, 0) and key (keys₀, keys₁), as `unitOpen` of it, so
 * a draw depends on its key and nothing else. Temperature 0 takes the largest logit, the lowest
 * index on a tie, and gives its log-probability at temperature 1.
 *
 * One device draws the same token every time. Two devices round z and g differently, and draw
 * another one where the two best scores are nearly tied: they lie less than δ apart with
 * probability δ·Σⱼ pⱼ(1 − pⱼ) < δ, to first order. If no score differs by more than ε between the
 * devices, less than one token in 1/(2ε) does: with ε = 3e-6, as of float32 kernels, one in 170
 * 000.
 *
 * hidden [N, D]; weight [V, D]; keys [N, 4] words of 32 bits stored as int32; tokens [N];
 * logprobs [N] nats, equal to what `linearLogprob` gives for the token.
 */
export const linearSample = defineOp({
  id: 'linearSample',
  inputs: {
    hidden: { axes: ['N', 'D'], dtypes: FLOATS },
    weight: { axes: ['V', 'D'], dtypes: FLOATS },
    keys: { axes: ['N', 'Q'], dtypes: INDICES },
  },
  outputs: {
    tokens: { axes: ['N'], dtypes: INDICES },
    logprobs: { axes: ['N'], dtypes: WIDE_FLOATS, measure: 'absolute' },
  },
  scalars: { temperature: 1 },

  check: ({ Q }) =>
    Q === 4 ? undefined : `a key has ${Q} words, expected 4. Pass keys as [N, 4].`,
  forward({ hidden, weight, keys }, { N, D, V }, { temperature }) {
    const tokens = new Int32Array(N);
    const logprobs = new Float64Array(N);
    for (let n = 0; n < N; n++) {
      const divisor = temperature === 0 ? 1 : temperature;
      const { z, logP } = logSoftmaxRow(hidden, weight, n, { D, V }, divisor);
      let best = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < V; j++) {
        const score = temperature === 0 ? z[j] : z[j] + gumbel(keys, n, j);
        if (score > best) {
          best = score;
          tokens[n] = j;
        }
      }
      logprobs[n] = logP[tokens[n]];
    }
    return { tokens, logprobs };
  },

  sample({ N, D, V }: Dims, random: Random) {
    return {
      keys: Int32Array.from({ length: 4 * N }, () => random.word() | 0),
      weight: Float64Array.from({ length: V * D }, () => random.normal() / Math.sqrt(D)),
    };
  },
  tolerance: { f32: 2e-5, bf16: 1e-3, f16: 1e-3 },
  cases: [
    { dims: { N: 1, D: 1, V: 1, Q: 4 } },
    { dims: { N: 3, D: 7, V: 5, Q: 4 } },
    { dims: { N: 5, D: 33, V: 63, Q: 4 }, scalars: { temperature: 0.7 } },
    { dims: { N: 17, D: 64, V: 257, Q: 4 } },
    { dims: { N: 9, D: 16, V: 66, Q: 4 }, scalars: { temperature: 0 } },
    { dims: { N: 4, D: 16, V: 4101, Q: 4 } },
  ],
  fuzz: (random) => ({
    dims: {
      N: 1 + random.integer(40),
      D: 1 + random.integer(80),
      V: 1 + random.integer(600),
      Q: 4,
    },
    scalars: { temperature: random.pick([1, 1, 0.6, 2, 0]) },
  }),
  part: (inputs, dims, _, random): Part => selectRows(linearSample, 'N', inputs, dims, random),
  benchCases: [{ dims: { N: 128, D: 128, V: 512, Q: 4 } }],
  cost: ({ N, D, V }, { bytesPerElement: size }) => ({
    flops: 2 * N * D * V,
    bytes: (N * D + V * D + N) * size + 20 * N,
  }),
});
