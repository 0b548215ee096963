/** Credit per turn: each turn is compared with the same turn of the group's other trajectories. */
import type { TokenAdvantage } from '../choices.ts';
import { membersByGroup } from '../sequences.ts';
import { meanOf, over, stdOf } from '../statistics.ts';
import { combineWithTurns, turnInputsOf, turnReturns } from './turn-inputs.ts';

/**
 * The sequence's advantage plus its turn's, relative to the group at the same turn.
 *
 *   G_k = r_k + turnDiscount·G_{k+1};   A_k = (G_k − mean_k(G)) / (std_k(G) + stdEpsilon)
 *   Aₜ = A_sequence + turnWeight·A_k
 *
 * GiGPO, arXiv:2505.10978, with the number of the turn as the state that trajectories share. mean_k
 * and std_k are over the group's trajectories that have a turn k; alone, a turn gets 0.
 * `scale: none` leaves std out.
 *
 * @throws ConfigError if the step has no turns, turnOffsets or turnRewards
 */
export function turnGroups(options: {
  turnDiscount: number;
  turnWeight: number;
  epsilon?: number;
  ddof?: number;
  isScaled?: boolean;
}): TokenAdvantage {
  const { turnDiscount, turnWeight, epsilon = 1e-6, ddof = 1, isScaled = true } = options;
  return (step) => {
    const inputs = turnInputsOf(step);
    const returns = turnReturns(inputs, turnDiscount);
    const turnAdvantages = new Float64Array(returns.length);
    for (const members of membersByGroup(step.groups)) {
      for (let turn = 0; ; turn++) {
        const present = members
          .map(
            (s) => [inputs.turnOffsets[s] as number, inputs.turnOffsets[s + 1] as number] as const,
          )
          .filter(([start, end]) => start + turn < end)
          .map(([start]) => start + turn);
        if (present.length === 0) break;
        const values = present.map((k) => returns[k] as number);
        const [mean, std] = [meanOf(values), stdOf(values, ddof)];
        for (const k of present) {
          const lead = (returns[k] as number) - mean;
          turnAdvantages[k] = isScaled ? over(lead, std, epsilon) : lead;
        }
      }
    }
    return { advantages: combineWithTurns(step, inputs, turnAdvantages, turnWeight) };
  };
}
