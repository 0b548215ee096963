/** The surrogate of the policy gradient theorem: no ratio, no clipping. */
import type { Surrogate } from '../choices.ts';

/**
 * Per-token score-function loss.
 *
 *   ℓ = −A·logprob
 *
 * Williams 1992, "Simple statistical gradient-following algorithms", with a baseline in A; GPG,
 * arXiv:2504.02546, has the same.
 */
export function logProbability(): Surrogate {
  return ({ advantages, logprobs }) => {
    const losses = new Float64Array(logprobs.length);
    const gradLogprobs = new Float64Array(logprobs.length);
    for (let t = 0; t < losses.length; t++) {
      const advantage = advantages[t] as number;
      losses[t] = -advantage * (logprobs[t] as number);
      gradLogprobs[t] = -advantage;
    }
    const gradRatios = new Float64Array(logprobs.length);
    return { losses, gradRatios, gradLogprobs, clips: new Uint8Array(losses.length) };
  };
}
