/** An entropy bonus that comes in only while entropy is low. */

export interface AdaptiveEntropyOptions {
  /** Entropy to keep at least, nats. Default 0.2. */
  readonly target?: number;
  /** Change per step. Default 0.005. */
  readonly delta?: number;
  /** Default 0. */
  readonly min?: number;
  /** Default 1. */
  readonly max?: number;
}

export interface AdaptiveEntropyState {
  /** What the controller has come to. */
  readonly coefficient: number;
  /** What the next step's `entropyCoefficient` is: the same, or 0 while entropy is high. */
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
 * @param entropy the metric `entropy` of the whole step, nats
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
