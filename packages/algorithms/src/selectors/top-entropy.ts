/** Trains only the tokens of high entropy. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { Selector } from '../choices.ts';
import { mark } from '../marks.ts';
import { owning } from '../unit.ts';

/**
 * Leaves out the tokens whose entropy lies below a quantile of the minibatch's entropies.
 *
 *   kept = { t : entropyₜ ≥ quantile(entropy, 1 − topEntropyShare) }, the quantile interpolated
 *
 * "Beyond the 80/20 rule", arXiv:2506.01939; TRL's `top_entropy_quantile`. The tokens left out
 * have neither surrogate loss nor entropy bonus, but stay in the loss's denominator.
 *
 * @throws ConfigError if the minibatch has no entropy
 */
export const topEntropy = owning(
  {
    topEntropyShare: quantity({
      min: 0,
      max: 1,
      default: 1,
      unit: 'fraction',
      about: 'Share of the tokens, by entropy, that train.',
    }),
  },
  makeTopEntropy,
);

function makeTopEntropy(options: { readonly topEntropyShare: number }): Selector {
  const { topEntropyShare } = options;
  return ({ entropy, lossMask }, marks) => {
    if (entropy === undefined) {
      throw new ConfigError(
        'entropy',
        `topEntropyShare is ${topEntropyShare}, but the batch has no entropy. ` +
          'Pass the entropies the policy gives, or set topEntropyShare to 1.',
      );
    }
    const values = Float64Array.from(entropy).filter((_, t) => lossMask[t] !== 0);
    if (values.length === 0) return;
    const threshold = quantile(values, 1 - topEntropyShare);
    for (let t = 0; t < entropy.length; t++) {
      if (lossMask[t] === 0 || (entropy[t] as number) >= threshold) continue;
      marks[t] = (marks[t] as number) | mark.lowEntropy;
    }
  };
}

/** The value below which a share of the values lies, interpolated linearly. */
function quantile(values: Float64Array, share: number): number {
  const sorted = values.sort();
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}
