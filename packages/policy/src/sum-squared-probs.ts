/** The sum over the vocabulary of squared probabilities, from log-probs at two temperatures. */

/**
 * Sums of squared probabilities, without another kernel.
 *
 *   Σ_v π(v)² = Σ_v exp(2·z_v / τ) / (Σ_v exp(z_v / τ))² = exp(2·ln π_τ(t) − ln π_{τ/2}(t))
 *
 * holds for any token t, because the logit of t cancels. So the log-prob of the target, once more at
 * half the temperature, is enough on every backend. The optimal token baseline of verl reads it.
 *
 * @param targets     [N] token ids; −1 for a row that was left out
 * @param logprobs    [N] nats, at the temperature τ
 * @param sharpened   [N] nats, at τ / 2
 * @returns           [N] in (0, 1]; 0 for a row that was left out
 */
export function sumSquaredProbs(
  targets: Int32Array,
  logprobs: Float32Array,
  sharpened: Float32Array,
): Float32Array {
  return Float32Array.from(targets, (target, n) => {
    if (target < 0) return 0;
    // Rounding in the two log-probs must not lead out of the range of a sum of squares.
    return Math.min(1, Math.exp(2 * (logprobs[n] as number) - (sharpened[n] as number)));
  });
}
