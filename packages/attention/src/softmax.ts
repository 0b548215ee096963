/** The softmax of one row of scores, in float64. */

/**
 * p = exp(scores − lse),   lse = ln Σ exp scores
 *
 * @returns p, and lse in nats: −∞ for an empty row
 */
export function softmax(scores: readonly number[]): { p: number[]; lse: number } {
  if (scores.length === 0) return { p: [], lse: Number.NEGATIVE_INFINITY };
  const max = scores.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - max);
  const lse = max + Math.log(sum);
  return { p: scores.map((score) => Math.exp(score - lse)), lse };
}
