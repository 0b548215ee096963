/** Credit per turn: each turn is compared with the same turn of the group's other trajectories. */
import type { Step } from '../algorithm.ts';
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { membersByGroup } from '../sequences.ts';
import { deviations, over, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';
import { combineWithTurns, turnInputsOf, turnReturns } from './turn-inputs.ts';

/**
 * The sequence's advantage plus its turn's, relative to the group at the same turn.
 *
 *   G_k = r_k + turnDiscount·G_{k+1};   A_k = (G_k − mean_k(G)) / (std_k(G) + stdEpsilon)
 *   Aₜ = A_sequence + turnWeight·A_k
 *
 * GiGPO, arXiv:2505.10978, with the number of the turn as the state that trajectories share. mean_k
 * and std_k are over the group's trajectories that have a turn k; alone, a turn gets 0. `scale: batch`
 * takes the std of all turn returns of the step, and divides A_sequence by the std of all rewards;
 * `scale: none` leaves both out.
 *
 * @throws ConfigError if the step has no turns, turnOffsets or turnRewards
 */
export const turnGroups = owning(
  {
    turnDiscount: fields.turnDiscount,
    turnWeight: fields.turnWeight,
    stdEpsilon: fields.stdEpsilon,
    stdDof: fields.stdDof,
  },
  makeTurnGroups,
);

function makeTurnGroups(options: {
  readonly turnDiscount: number;
  readonly turnWeight: number;
  readonly stdEpsilon?: number;
  readonly stdDof?: number;
  /** The set whose standard deviation is the divisor. Default `group`. */
  readonly scale?: 'none' | 'group' | 'batch';
}): TokenAdvantage {
  const { turnDiscount, turnWeight, stdEpsilon = 1e-6, stdDof = 1, scale = 'group' } = options;
  return (step) => {
    const inputs = turnInputsOf(step);
    const returns = turnReturns(inputs, turnDiscount);
    const batchStd = scale === 'batch' ? stdOf(returns, stdDof) : 0;
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
        const values = Float64Array.from(present, (k) => returns[k] as number);
        const std = scale === 'batch' ? batchStd : stdOf(values, stdDof);
        for (const [i, lead] of deviations(values).entries()) {
          turnAdvantages[present[i] as number] =
            scale === 'none' ? lead : over(lead, std, stdEpsilon);
        }
      }
    }
    const scaled = scale === 'batch' ? scaledByBatch(step, stdEpsilon, stdDof) : step;
    return { advantages: combineWithTurns(scaled, inputs, turnAdvantages, turnWeight) };
  };
}

/** The step with its sequences' advantages over the standard deviation of all its rewards. */
function scaledByBatch(step: Step, stdEpsilon: number, stdDof: number): Step {
  const std = stdOf(step.rewards, stdDof);
  const sequenceAdvantages = Float64Array.from(step.sequenceAdvantages, (advantage) =>
    over(advantage, std, stdEpsilon),
  );
  return { ...step, sequenceAdvantages };
}
