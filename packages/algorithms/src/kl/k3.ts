/** The estimator of KL with low variance. */

/**
 * Unbiased estimate of KL(policy ‖ other) from a token the policy sampled; never negative.
 *
 *   k3 = exp(d) − d − 1,   d = otherLogprob − logprob
 *
 * Schulman 2020, "Approximating KL divergence"; DeepSeekMath, arXiv:2402.03300, eq. 4. verl also
 * holds d within ±20 and k3 within ±10; the paper has no bounds, and neither have we.
 */
export function k3(logprob: number, otherLogprob: number): { value: number; grad: number } {
  const difference = otherLogprob - logprob;
  // expm1 keeps the small values that the two policies of one step give.
  const excess = Math.expm1(difference);
  return { value: excess - difference, grad: -excess };
}
