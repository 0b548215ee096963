/** The estimator of KL with low variance. */

/**
 * Unbiased estimate of KL(policy ‖ other) from a token the policy sampled; never negative.
 *
 *   k3 = exp(d) − d − 1,   d = otherLogprob − logprob
 *
 * Schulman 2020, "Approximating KL divergence"; DeepSeekMath, arXiv:2402.03300, eq. 4. The paper has
 * no bounds.
 */
export function k3(logprob: number, otherLogprob: number): { value: number; grad: number } {
  const difference = otherLogprob - logprob;
  // expm1 keeps the small values that the two policies of one step give.
  const excess = Math.expm1(difference);
  return { value: excess - difference, grad: -excess };
}

/**
 * k3 with the bounds verl gives it; beyond a bound the gradient is 0.
 *
 *   k3-bounded = min(exp(d) − d − 1, 10),   d = clamp(otherLogprob − logprob, ±20)
 *
 * verl's `low_var_kl`.
 */
export function k3Bounded(logprob: number, otherLogprob: number): { value: number; grad: number } {
  const difference = otherLogprob - logprob;
  const held = Math.max(-20, Math.min(20, difference));
  const { value, grad } = k3(0, held);
  if (value > 10) return { value: 10, grad: 0 };
  return { value, grad: held === difference ? grad : 0 };
}
