/** Half the squared log-ratio. */

/**
 * Biased estimate of KL(policy ‖ other) of low variance, whose gradient is unbiased.
 *
 *   k2 = ½·(logprob − otherLogprob)²
 *
 * Schulman 2020, "Approximating KL divergence", http://joschu.net/blog/kl-approx.html.
 */
export function k2(logprob: number, otherLogprob: number): { value: number; grad: number } {
  const difference = logprob - otherLogprob;
  return { value: 0.5 * difference * difference, grad: difference };
}
