/** The learning rate of an update. */

export interface LearningRateSchedule {
  readonly peak: number;
  /** Updates in all. */
  readonly total: number;
  /** Share of the updates over which the rate rises linearly from 0. */
  readonly warmupFraction: number;
  /** Rate of the last update over the peak. */
  readonly finalFraction: number;
}

/**
 * Linear warm-up, then half a cosine down to a share of the peak.
 *
 *   u < w:  η = peak · (u + 1) / w
 *   else:   η = peak · (f + (1 − f) · ½ (1 + cos π p)),  p = (u − w) / max(1, total − 1 − w)
 *
 * Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5 (one period).
 *
 * @param update  index of the update, from 0
 */
export function learningRateAt(update: number, schedule: LearningRateSchedule): number {
  const { peak, total, warmupFraction, finalFraction } = schedule;
  const warmup = Math.round(total * warmupFraction);
  if (update < warmup) return (peak * (update + 1)) / warmup;
  const progress = Math.min(1, (update - warmup) / Math.max(1, total - 1 - warmup));
  const cosine = 0.5 * (1 + Math.cos(Math.PI * progress));
  return peak * (finalFraction + (1 - finalFraction) * cosine);
}
