/** A KL coefficient that steers KL to a target. */

export interface AdaptiveKlOptions {
  /** KL to hold, nats. Default 0.1, verl's. */
  readonly target?: number;
  /** Number of samples over which the coefficient adapts. Default 10,000. */
  readonly horizon?: number;
}

/**
 * The coefficient for the next step, from the mean KL of this one.
 *
 *   β ← β·(1 + clip(kl/target − 1, ±0.2)·samples/horizon)
 *
 * Ziegler et al. 2019, arXiv:1909.08593, §2.2; verl's `AdaptiveKLController`.
 *
 * @param samples  number of sequences since the last call
 */
export function adaptiveKl(
  coefficient: number,
  kl: number,
  samples: number,
  options: AdaptiveKlOptions = {},
): number {
  const { target = 0.1, horizon = 10_000 } = options;
  const error = Math.max(-0.2, Math.min(0.2, kl / target - 1));
  return coefficient * (1 + (error * samples) / horizon);
}
