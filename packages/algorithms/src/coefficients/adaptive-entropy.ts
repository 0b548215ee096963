/** An entropy bonus that applies only while the entropy is low. */

export interface AdaptiveEntropyOptions {
  /** Entropy below which the bonus applies, nats. Default 0.2. */
  readonly target?: number;
  /** Change per step. Default 0.005. */
  readonly delta?: number;
  /** Smallest coefficient. Default 0. */
  readonly min?: number;
  /** Largest coefficient. Default 1. */
  readonly max?: number;
}

/** The state of the controller of `adaptiveEntropy`; plain data, to store with a checkpoint. */
export interface AdaptiveEntropyState {
  /** c, the controller's coefficient. */
  readonly coefficient: number;
  /** The next step's `entropyCoefficient`: c, or 0 while the entropy is above its target. */
  readonly applied: number;
}

/** The state before the first step. */
export function adaptiveEntropyStart(coefficient = 0): AdaptiveEntropyState {
  return { coefficient, applied: coefficient };
}

/**
 * The coefficient for the next step, from the mean entropy of this one.
 *
 *   c ← min(c + delta, max) if entropy ≤ target, else max(c − delta, min)
 *   applied = c if entropy ≤ target, else 0
 *
 * Skywork-OR1, arXiv:2505.22312; numbers and order are TRL's (`use_adaptive_entropy`).
 *
 * @param entropy  the metric `entropy` of the whole step, nats
 */
export function adaptiveEntropy(
  state: AdaptiveEntropyState,
  entropy: number,
  options: AdaptiveEntropyOptions = {},
): AdaptiveEntropyState {
  const { target = 0.2, delta = 0.005, min = 0, max = 1 } = options;
  if (entropy <= target) {
    const coefficient = Math.min(state.coefficient + delta, max);
    return { coefficient, applied: coefficient };
  }
  return { coefficient: Math.max(state.coefficient - delta, min), applied: 0 };
}
