/** Log-probabilities and entropies of a linear LM head, without a [N, V] array. */
import type { Random } from '@saccade/core';
import {
  type Dims,
  defineOp,
  FLOATS,
  INDICES,
  type OpCase,
  type Part,
  selectRows,
  type Values,
  WIDE_FLOATS,
} from '@saccade/ops';
import { logSoftmaxRow } from '../log-softmax-row.ts';

/**
 * z = hidden·weightᵀ / temperature,   lse = ln Σⱼ exp zⱼ,   ln pⱼ = zⱼ − lse
 * logprob = ln p_target,   entropy H = −Σⱼ pⱼ·ln pⱼ
 *
 *   ∂zⱼ = ∂logprob·(1[j = target] − pⱼ) − ∂entropy·pⱼ·(ln pⱼ + H)
 *   ∂hidden = ∂z·weight / temperature      ∂weight = ∂zᵀ·hidden / temperature
 *
 * Kernels fold the vocabulary in chunks, as Wijmans et al. 2024 (arXiv:2411.09009) do for the
 * cross-entropy; the entropy folds along, free of cancellation.
 *
 * hidden [N, D]; weight [V, D]; targets [N] in [0, V), or −1 for a row to leave out: it is not
 * computed, its logprob, entropy and lse are 0 and it has no gradient.
 * logprobs, entropy, lse [N] nats; lse is constant for the gradient.
 */
export const linearLogprob = defineOp({
  id: 'linearLogprob',
  inputs: {
    hidden: { axes: ['N', 'D'], dtypes: FLOATS, grad: true },
    weight: { axes: ['V', 'D'], dtypes: FLOATS, grad: true, gradDtype: 'f32' },
    targets: { axes: ['N'], dtypes: INDICES },
  },
  outputs: {
    logprobs: { axes: ['N'], dtypes: WIDE_FLOATS, grad: true, measure: 'absolute' },
    entropy: { axes: ['N'], dtypes: WIDE_FLOATS, grad: true, measure: 'absolute' },
    lse: { axes: ['N'], dtypes: WIDE_FLOATS, measure: 'absolute' },
  },
  scalars: { temperature: 1 },

  forward({ hidden, weight, targets }, { N, D, V }, { temperature }) {
    const logprobs = new Float64Array(N);
    const entropy = new Float64Array(N);
    const lse = new Float64Array(N);
    for (let n = 0; n < N; n++) {
      if (targets[n] < 0) continue;
      const row = logSoftmaxRow(hidden, weight, n, { D, V }, temperature);
      logprobs[n] = row.logP[targets[n]];
      entropy[n] = row.entropy;
      lse[n] = row.lse;
    }
    return { logprobs, entropy, lse };
  },

  backward(
    { logprobs: dLogprobs, entropy: dEntropy },
    { hidden, weight, targets },
    { N, D, V },
    { temperature },
  ) {
    const dHidden = new Float64Array(N * D);
    const dWeight = new Float64Array(V * D);
    for (let n = 0; n < N; n++) {
      if (targets[n] < 0) continue;
      const { logP, entropy } = logSoftmaxRow(hidden, weight, n, { D, V }, temperature);
      for (let j = 0; j < V; j++) {
        const p = Math.exp(logP[j]);
        const isTarget = j === targets[n] ? 1 : 0;
        const dLogit = dLogprobs[n] * (isTarget - p) - dEntropy[n] * p * (logP[j] + entropy);
        for (let d = 0; d < D; d++) {
          dHidden[n * D + d] += (dLogit * weight[j * D + d]) / temperature;
          dWeight[j * D + d] += (dLogit * hidden[n * D + d]) / temperature;
        }
      }
    }
    return { hidden: dHidden, weight: dWeight };
  },

  sample({ N, D, V }: Dims, random: Random) {
    const targets = Int32Array.from({ length: N }, () =>
      random.pick([-1, 0, V - 1, random.integer(V), random.integer(V), random.integer(V)]),
    );
    // Logits of unit variance, like a trained head's. At variance D the softmax would be a spike.
    const weight = new Float64Array(V * D);
    for (let i = 0; i < weight.length; i++) weight[i] = random.normal() / Math.sqrt(D);
    return { targets, weight };
  },
  // Absolute for the three outputs, relative for the gradients.
  tolerance: { f32: 2e-5, bf16: 1e-3, f16: 1e-3 },
  gradTolerance: { f32: 1e-5, bf16: 1e-2, f16: 2e-3 },
  cases: [
    { dims: { N: 1, D: 1, V: 2 } },
    { dims: { N: 3, D: 7, V: 1 } },
    { dims: { N: 5, D: 33, V: 63 }, scalars: { temperature: 0.7 } },
    { dims: { N: 17, D: 64, V: 257 } },
    { dims: { N: 65, D: 32, V: 130 }, scalars: { temperature: 1.5 } },
    { dims: { N: 4, D: 16, V: 4101 } },
  ],
  fuzz: (random) => ({
    dims: { N: 1 + random.integer(40), D: 1 + random.integer(80), V: 2 + random.integer(600) },
    scalars: { temperature: random.pick([1, 1, 0.6, 2]) },
  }),
  part: (inputs, dims, _, random): Part => selectRows(linearLogprob, 'N', inputs, dims, random),
  benchCases: [
    allRowsCase({ N: 64, D: 256, V: 2048 }),
    allRowsCase({ N: 2048, D: 128, V: 512 }),
    allRowsCase({ N: 128, D: 2048, V: 151_936 }),
  ],
  // Left-out rows cost nothing. The statistics of a row are float32.
  cost({ D, V }, { bytesPerElement: size, indices }) {
    const rows = rowsThatCount(indices.targets);
    return { flops: 2 * rows * D * V, bytes: (rows * D + V * D) * size + 16 * rows };
  },
  // Logits again, ∂hidden and ∂weight: three products. ∂weight is float32.
  backwardCost({ D, V }, { bytesPerElement: size, indices }) {
    const rows = rowsThatCount(indices.targets);
    return {
      flops: 6 * rows * D * V,
      bytes: (2 * rows * D + V * D) * size + 4 * V * D + 24 * rows,
    };
  },
});

/** No row left out, and no gradient of the entropy: as in a step without an entropy bonus. */
function allRowsCase(dims: Dims): OpCase {
  const { N, V } = dims;
  const targets = Int32Array.from({ length: N }, (_, n) => (n * 7919) % V);
  return { dims, indices: { targets }, gradOf: ['logprobs'] };
}

/** Rows whose target is in the vocabulary. */
function rowsThatCount(targets: Values[string]): number {
  let rows = 0;
  for (const target of targets) if (target >= 0) rows++;
  return rows;
}
