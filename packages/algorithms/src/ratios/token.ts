/** The importance ratio of every token by itself. */
import type { Ratio } from '../choices.ts';

/**
 * Importance ratio per token.
 *
 *   ρ = exp(logprobs − oldLogprobs)
 *
 * Schulman et al. 2017, arXiv:1707.06347, §3. The paper has no bound; as in verl the logarithm is
 * held within ±maxLogRatio before exp, where the gradient is then 0, so that one token the policy
 * has all but forgotten cannot make the loss infinite. Infinity gives the paper's form.
 */
export function tokenRatio(options: { maxLogRatio?: number } = {}): Ratio {
  const { maxLogRatio = 20 } = options;
  return {
    forward({ logprobs, oldLogprobs }) {
      const ratios = new Float64Array(logprobs.length);
      for (let t = 0; t < ratios.length; t++) {
        const logRatio = (logprobs[t] as number) - (oldLogprobs[t] as number);
        ratios[t] = Math.exp(Math.max(-maxLogRatio, Math.min(maxLogRatio, logRatio)));
      }
      return ratios;
    },
    backward({ logprobs, oldLogprobs }, ratios, gradRatios) {
      const grad = new Float64Array(ratios.length);
      for (let t = 0; t < grad.length; t++) {
        const logRatio = (logprobs[t] as number) - (oldLogprobs[t] as number);
        if (Math.abs(logRatio) > maxLogRatio) continue;
        grad[t] = (gradRatios[t] as number) * (ratios[t] as number);
      }
      return grad;
    },
  };
}
