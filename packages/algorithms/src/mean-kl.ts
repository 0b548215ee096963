/** How far a step's policy is from its reference, for coefficients that follow it. */
import type { Algorithm, TokenBatch } from './algorithm.ts';
import { klNamed } from './named-units.ts';

/**
 * Mean KL to the reference policy over the tokens that train, by the algorithm's own estimate.
 *
 *   mean over t of kl(oldLogprobsₜ, refLogprobsₜ)
 *
 * @returns nats; undefined if the step has no log-probs of a reference, or no token trains
 */
export function meanKl(
  { settings }: Pick<Algorithm, 'settings'>,
  { oldLogprobs, refLogprobs, lossMask }: Omit<TokenBatch, 'logprobs'>,
): number | undefined {
  if (refLogprobs === undefined) return undefined;
  const estimate = klNamed(String(settings.kl));
  let [sum, count] = [0, 0];
  lossMask.forEach((mask, t) => {
    if (mask === 0) return;
    sum += estimate(oldLogprobs[t] as number, refLogprobs[t] as number).value;
    count++;
  });
  return count === 0 ? undefined : sum / count;
}
