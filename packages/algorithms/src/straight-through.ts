/** A KL estimate's value with another's gradient. */
import type { KlEstimate } from './choices.ts';
import { k2 } from './kl/k2.ts';

/**
 * The same estimate with the gradient of k2, whose expectation is the gradient of KL; k1 and k3 have
 * the right expectation, but not the right gradient.
 *
 *   k+ = sg(k) + k2 − sg(k2)
 *
 * The `+` of verl's KL penalties (`k1+`, `k3+`).
 */
export function straightThrough(estimate: KlEstimate): KlEstimate {
  return (logprob, otherLogprob) => ({
    value: estimate(logprob, otherLogprob).value,
    grad: k2(logprob, otherLogprob).grad,
  });
}
