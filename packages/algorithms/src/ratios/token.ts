/** The importance ratio of every token by itself. */
import type { Ratio } from '../choices.ts';
import { maxLogRatio as maxLogRatioField } from '../fields.ts';
import { product } from '../product.ts';
import { owning } from '../unit.ts';

/**
 * Importance ratio per token.
 *
 *   ρₜ = exp(logprobsₜ − oldLogprobsₜ)
 *
 * Schulman et al. 2017, arXiv:1707.06347, §3. The paper has no bound. As in verl the logarithm can
 * be held within ±maxLogRatio before exp, where the gradient is then 0, so that one token the policy
 * has almost forgotten cannot make the loss infinite; 0 gives the paper's form.
 */
export const tokenRatio = owning({ maxLogRatio: maxLogRatioField }, makeTokenRatio);

function makeTokenRatio(options: { readonly maxLogRatio?: number } = {}): Ratio {
  const { maxLogRatio = 20 } = options;
  const bound = maxLogRatio === 0 ? Number.POSITIVE_INFINITY : maxLogRatio;
  return {
    forward({ logprobs, oldLogprobs }) {
      const ratios = new Float64Array(logprobs.length);
      for (let t = 0; t < ratios.length; t++) {
        const logRatio = (logprobs[t] as number) - (oldLogprobs[t] as number);
        ratios[t] = Math.exp(Math.max(-bound, Math.min(bound, logRatio)));
      }
      return ratios;
    },
    backward({ logprobs, oldLogprobs, lossMask }, ratios, gradRatios) {
      const grad = new Float64Array(ratios.length);
      for (let t = 0; t < grad.length; t++) {
        if (lossMask[t] === 0) continue;
        const logRatio = (logprobs[t] as number) - (oldLogprobs[t] as number);
        if (Math.abs(logRatio) > bound) continue;
        grad[t] = product(gradRatios[t] as number, ratios[t] as number);
      }
      return grad;
    },
  };
}
