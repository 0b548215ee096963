/** The optimizers and learning-rate schedules of the nano recipes. */
import type { RunInput } from '../run-config.ts';

type Optimizers = Pick<RunInput, 'optimizer' | 'schedule' | 'sftOptimizer' | 'sftSchedule'>;

/** @param fractions learning rates of the last updates over their peaks */
export function nanoOptimizers(fractions: {
  readonly sftFinalFraction: number;
  readonly finalFraction: number;
}): Optimizers {
  return {
    optimizer: { name: 'adamw', weightDecay: 0 },
    schedule: { name: 'cosine', finalFraction: fractions.finalFraction },
    // A short memory of squared gradients, for a cold start of a few hundred updates.
    sftOptimizer: { name: 'adamw', beta2: 0.98, weightDecay: 0.01 },
    sftSchedule: {
      name: 'cosine',
      warmupFraction: 0.05,
      finalFraction: fractions.sftFinalFraction,
    },
  };
}
