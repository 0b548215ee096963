/** Adds returns per turn, standardized over the batch, to the sequence's advantage. */
import type { TokenAdvantage } from '../choices.ts';
import * as fields from '../fields.ts';
import { meanOf, stdOf } from '../statistics.ts';
import { owning } from '../unit.ts';
import { combineWithTurns, turnInputsOf, turnReturns } from './turn-inputs.ts';

/**
 * The sequence's advantage plus that of the token's turn.
 *
 *   G_k = r_k + turnDiscount·G_{k+1};   A_k = (G_k − mean(G)) / std(G);   last turn: A_k = 0
 *   Aₜ = A_sequence + turnWeight·A_k
 *
 * CodeDance, arXiv:2512.17312, eq. 2 (turn-level reward of failed executions); weight 0.2, population
 * standard deviation and the last turn's 0 from its code. Mean and std are over all turns of the
 * step but each sequence's last; where they hardly differ (std ≤ 1e-8) the returns are taken as they
 * are. With rewards that only punish, every turn without a failure gets a positive advantage.
 *
 * @throws ConfigError if the step has no turns, turnOffsets or turnRewards
 */
export const turnReturnsStandardized = owning(
  { turnDiscount: fields.turnDiscount, turnWeight: fields.turnWeight },
  makeTurnReturns,
);

function makeTurnReturns(options: {
  readonly turnDiscount: number;
  readonly turnWeight: number;
}): TokenAdvantage {
  const { turnDiscount, turnWeight } = options;
  return (step) => {
    const inputs = turnInputsOf(step);
    const returns = turnReturns(inputs, turnDiscount);
    const isLast = new Uint8Array(returns.length);
    for (let s = 0; s + 1 < inputs.turnOffsets.length; s++) {
      const end = inputs.turnOffsets[s + 1] as number;
      if (end > (inputs.turnOffsets[s] as number)) isLast[end - 1] = 1;
    }
    const counted = returns.filter((_, k) => isLast[k] === 0);
    const [mean, std] = [meanOf(counted), stdOf(counted, 0)];
    const turnAdvantages = returns.map((value, k) => {
      if (isLast[k] === 1) return 0;
      return std > 1e-8 ? (value - mean) / std : value;
    });
    return { advantages: combineWithTurns(step, inputs, turnAdvantages, turnWeight) };
  };
}
