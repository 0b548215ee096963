/** Learning-rate schedules: pure functions of the step. */

/** Learning rate at update `step`, counted from 0. */
export type Schedule = (step: number) => number;

export function constant(peak: number): Schedule {
  return () => peak;
}

/** Rises linearly over `warmup` updates, then stays. */
export function warmup(peak: number, warmupSteps: number): Schedule {
  return (step) => peak * Math.min(1, (step + 1) / Math.max(1, warmupSteps));
}

/** Rises linearly over `warmupSteps`, then falls along a cosine to `floor`·peak at `totalSteps`. */
export function warmupCosine(
  peak: number,
  warmupSteps: number,
  totalSteps: number,
  floor = 0.1,
): Schedule {
  return (step) => {
    if (step < warmupSteps) return (peak * (step + 1)) / warmupSteps;
    const done = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
    return peak * (floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * done)));
  };
}
