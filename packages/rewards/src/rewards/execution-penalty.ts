/** CodeDance's penalty for a turn whose code failed. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { TurnReward } from '../reward.ts';

export interface ExecutionPenaltyOptions {
  readonly penalty: number;
}

export const executionPenaltyVariants: Variants<ExecutionPenaltyOptions> = {
  paper: { penalty: sourced(-0.5, 'note') },
  code: { penalty: sourced(-0.5, 'code') },
};

/**
 * Turn by turn, the penalty where code failed.
 *
 *   r_t = penalty·1{code of turn t failed};   0 after success and without code
 *
 * CodeDance, arXiv:2512.17312, eq. 2. Its discounted return and the normalisation over the batch
 * belong to the advantage (`turn-returns` in the algorithms). Since r_t ≤ 0, taking the mean off
 * gives turns that succeed a positive advantage: a hidden bonus for calls.
 */
export function executionPenaltyWith(constants: Sourced<ExecutionPenaltyOptions>): TurnReward {
  const { penalty } = valuesOf(constants);
  return {
    name: 'execution-penalty',
    scope: 'turn',
    paper: 'CodeDance, arXiv:2512.17312, eq. 2',
    range: [penalty, 0],
    constants: { ...constants },
    with: (changed) =>
      executionPenaltyWith({ ...constants, ...changed } as Sourced<ExecutionPenaltyOptions>),
    score: ({ turns }) =>
      turns.map(({ action, result }) => {
        const hasFailed = action.kind === 'code' && result !== undefined && result.kind !== 'ok';
        return hasFailed ? penalty : 0;
      }),
  };
}

export const executionPenalty: TurnReward = executionPenaltyWith(executionPenaltyVariants.paper);
