/** Learning-rate schedules: pure functions of the step. */

/** Learning rate at update `step`, counted from 0. */
export type Schedule = (step: number) => number;

export interface DecayOptions {
  /** Updates over which the rate rises linearly to its peak; the last of them is at the peak. */
  readonly warmupSteps: number;
  /** Update at which the rate has fallen to its end, where it stays. */
  readonly totalSteps: number;
  /** The end as a fraction of the peak. Default 0. */
  readonly finalFraction?: number;
}

export function constant(peak: number): Schedule {
  return () => peak;
}

/** Rises linearly over `warmupSteps` updates, then stays. */
export function linearWarmup(peak: number, warmupSteps: number): Schedule {
  return (step) => peak * Math.min(1, (step + 1) / Math.max(1, warmupSteps));
}

/** Rises linearly, then falls linearly. */
export function linearDecay(peak: number, options: DecayOptions): Schedule {
  return decay(peak, options, (done) => 1 - done);
}

/** Rises linearly, then falls along half a cosine. Loshchilov & Hutter 2017, arXiv:1608.03983. */
export function warmupCosine(peak: number, options: DecayOptions): Schedule {
  return decay(peak, options, (done) => 0.5 * (1 + Math.cos(Math.PI * done)));
}

/** `fall` maps [0, 1], the share of the decay that is done, to [1, 0]. */
function decay(peak: number, options: DecayOptions, fall: (done: number) => number): Schedule {
  const { warmupSteps, totalSteps, finalFraction = 0 } = options;
  const rise = linearWarmup(peak, warmupSteps);
  return (step) => {
    if (step < warmupSteps) return rise(step);
    const done = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
    return peak * (finalFraction + (1 - finalFraction) * fall(done));
  };
}
