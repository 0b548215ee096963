/** The plain estimator of KL. */

/**
 * Unbiased estimate of KL(policy ‖ other) from a token the policy sampled; it may be negative.
 *
 *   k1 = logprob − otherLogprob
 *
 * Schulman 2020, "Approximating KL divergence", http://joschu.net/blog/kl-approx.html.
 */
export function k1(logprob: number, otherLogprob: number): { value: number; grad: number } {
  return { value: logprob - otherLogprob, grad: 1 };
}
