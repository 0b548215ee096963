/** Standardizes the batch's advantages once more, sequence by sequence. */
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { deviations, over, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * Advantages of the sequences, standardized over all sequences of the step.
 *
 *   Aₜ = (A_sequence − mean(A)) / (std(A) + stdEpsilon)
 *
 * GDPO, arXiv:2601.05242, second stage, as in TRL; TRL's RLOO has it as `normalize_advantages`.
 */
export const standardized = owning(
  { stdEpsilon: fields.stdEpsilon, stdDof: fields.stdDof },
  makeStandardized,
);

function makeStandardized(
  options: { readonly stdEpsilon?: number; readonly stdDof?: number } = {},
): TokenAdvantage {
  const { stdEpsilon = 1e-6, stdDof = 1 } = options;
  return (step) => {
    const values = step.sequenceAdvantages;
    const std = stdOf(values, stdDof);
    const scaled = deviations(values).map((deviation) => over(deviation, std, stdEpsilon));
    return { advantages: broadcastOver(step, scaled) };
  };
}
