/** The batch's advantages are standardised once more, sequence by sequence. */
import type { TokenAdvantage } from '../choices.ts';
import { meanOf, over, stdOf } from '../statistics.ts';
import { broadcastOver } from './broadcast.ts';

/**
 * Advantages of the sequences, standardised over all sequences of the step.
 *
 *   Aₜ = (A_sequence − mean(A)) / (std(A) + stdEpsilon)
 *
 * GDPO, arXiv:2601.05242, second stage, as in TRL; TRL's RLOO has it as `normalize_advantages`.
 */
export function standardised(options: { epsilon?: number; ddof?: number } = {}): TokenAdvantage {
  const { epsilon = 1e-6, ddof = 1 } = options;
  return (step) => {
    const values = step.sequenceAdvantages;
    const [mean, std] = [meanOf(values), stdOf(values, ddof)];
    const scaled = Float64Array.from(values, (value) => over(value - mean, std, epsilon));
    return { advantages: broadcastOver(step, scaled) };
  };
}
