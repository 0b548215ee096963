/** CodeVision's penalty for more tool calls than a task needs. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { Reward } from '../reward.ts';
import { toolRecord } from './core-tools.ts';

export interface TurnLimitPenaltyOptions {
  /** Calls beyond the number of required tools that are free. */
  readonly spareTurns: number;
  /** Calls that are free in any case. */
  readonly leastTurns: number;
  /** Whether every call beyond counts, or all of them once. */
  readonly isLinear: boolean;
}

export const turnLimitPenaltyVariants: Variants<TurnLimitPenaltyOptions> = {
  paper: {
    spareTurns: sourced(1, 'paper'),
    leastTurns: sourced(0, 'paper'),
    isLinear: sourced(false, 'paper'),
  },
  code: {
    spareTurns: sourced(0, 'code'),
    leastTurns: sourced(2, 'code'),
    isLinear: sourced(true, 'code'),
  },
};

/**
 * Negative for tool calls beyond what the N required tools take.
 *
 *   paper: −1{calls > N + 1};   code: −max(0, calls − max(2, N))
 *
 * CodeVision, arXiv:2512.03746, §3.3.2 (constraint penalties), weight 0.5. 0 for a task that does not
 * say which tools it requires.
 */
export function turnLimitPenaltyWith(constants: Sourced<TurnLimitPenaltyOptions>): Reward {
  const { spareTurns, leastTurns, isLinear } = valuesOf(constants);
  return {
    name: 'turn-limit-penalty',
    scope: 'trajectory',
    paper: 'CodeVision, arXiv:2512.03746, §3.3.2',
    range: [isLinear ? Number.NEGATIVE_INFINITY : -1, 0],
    constants: { ...constants },
    with: (changed) =>
      turnLimitPenaltyWith({ ...constants, ...changed } as Sourced<TurnLimitPenaltyOptions>),
    score(trajectory, context) {
      const { facts, callCount } = toolRecord(trajectory, context);
      if (facts.requiredTools === undefined) return 0;
      const free = Math.max(leastTurns, facts.requiredTools.length + spareTurns);
      const excess = Math.max(0, callCount - free);
      if (excess === 0) return 0;
      return isLinear ? -excess : -1;
    },
  };
}

export const turnLimitPenalty: Reward = turnLimitPenaltyWith(turnLimitPenaltyVariants.paper);
