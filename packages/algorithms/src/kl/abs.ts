/** The size of the log-ratio. */

/**
 * Distance of the two log-probs: not an estimate of KL, but of its order of magnitude.
 *
 *   abs = |logprob − otherLogprob|
 *
 * The `abs` of verl's KL penalties.
 */
export function abs(logprob: number, otherLogprob: number): { value: number; grad: number } {
  const difference = logprob - otherLogprob;
  return { value: Math.abs(difference), grad: Math.sign(difference) };
}
