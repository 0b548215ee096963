/** CodeDance's reward for tool calls that shrinks, and turns, as the group gets better. */
import type { Trajectory } from '@saccade/trajectory';
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { GroupReward, RewardContext } from '../reward.ts';

export interface BalancedToolCallOptions {
  /** γ: how sharply the incentive falls with the group's accuracy. */
  readonly gamma: number;
  /** δ: how far it is shifted down; with 0 it never turns negative. */
  readonly delta: number;
  /** The public code's d is twice as steep. */
  readonly doubleSteepness: boolean;
  readonly wrongWeight: number;
  readonly rightWeight: number;
  /** Whether code of nothing but comments counts as a call that succeeded. */
  readonly countsIdleCode: boolean;
}

export const balancedToolCallVariants: Variants<BalancedToolCallOptions> = {
  paper: {
    gamma: sourced(4, 'note'),
    delta: sourced(0.2, 'note'),
    doubleSteepness: sourced(false, 'note'),
    wrongWeight: sourced(0.5, 'reconstructed'),
    rightWeight: sourced(1.5, 'reconstructed'),
    countsIdleCode: sourced(false, 'reconstructed'),
  },
  code: {
    gamma: sourced(4, 'code'),
    delta: sourced(0.2, 'code'),
    doubleSteepness: sourced(true, 'code'),
    wrongWeight: sourced(0.5, 'code'),
    rightWeight: sourced(1.5, 'code'),
    countsIdleCode: sourced(true, 'code'),
  },
};

/**
 * How much a tool call is worth at a group accuracy μ from 0 to 1.
 *
 *   d(μ) = σ(γ·(0.5 − μ)) − δ,   −δ < d < 1 − δ,   d(μ*) = 0 at μ* = 0.5 + ln((1 − δ)/δ)/γ
 *
 * CodeDance, arXiv:2512.17312, §8.2. Its public code has (1 + tanh(γ(0.5 − μ)))/2 − δ, which is the
 * same with 2γ.
 */
export function toolCallIncentive(
  accuracy: number,
  {
    gamma,
    delta,
    doubleSteepness,
  }: Pick<BalancedToolCallOptions, 'gamma' | 'delta' | 'doubleSteepness'>,
): number {
  const slope = doubleSteepness ? 2 * gamma : gamma;
  return 1 / (1 + Math.exp(-slope * (0.5 - accuracy))) - delta;
}

/**
 * Sequence-level adaptive tool-call reward.
 *
 *   R_seq = (rightWeight if right, else wrongWeight) · d(μ) · N_succ / N_total;   0 without calls
 *
 * CodeDance, arXiv:2512.17312, eq. 1 and 5. The paper says that the leading term switches with the
 * answer, its numbers are the code's. μ is the group's accuracy, as in the paper; the code takes the
 * mean of the total score. Whether a call succeeded is its status, not a word in its output.
 */
export function balancedToolCallWith(constants: Sourced<BalancedToolCallOptions>): GroupReward {
  const options = valuesOf(constants);
  const { gamma, delta, rightWeight, wrongWeight } = options;
  const steepest = Math.max(rightWeight, wrongWeight);
  return {
    name: 'balanced-tool-call',
    scope: 'group',
    paper: 'CodeDance, arXiv:2512.17312, eq. 1',
    range: [
      steepest * Math.min(0, toolCallIncentive(1, options)),
      steepest * Math.max(0, toolCallIncentive(0, options)),
    ],
    constants: {
      ...constants,
      flip: sourced(
        0.5 + Math.log((1 - delta) / delta) / (options.doubleSteepness ? 2 * gamma : gamma),
        constants.gamma.from,
      ),
    },
    with: (changed) =>
      balancedToolCallWith({ ...constants, ...changed } as Sourced<BalancedToolCallOptions>),
    score({ trajectories }, contexts) {
      const right = contexts.filter(({ isCorrect }) => isCorrect).length;
      const incentive = toolCallIncentive(right / Math.max(1, contexts.length), options);
      return trajectories.map((trajectory, index) => {
        const context = contexts[index] as RewardContext;
        const weight = context.isCorrect ? rightWeight : wrongWeight;
        const share = successShare(trajectory, context, options.countsIdleCode);
        return share === 0 ? 0 : weight * incentive * share;
      });
    },
  };
}

function successShare(
  { turns }: Trajectory,
  context: RewardContext,
  countsIdleCode: boolean,
): number {
  const calls = turns.flatMap(({ action, result }, turn) =>
    action.kind === 'code' ? [{ turn, result }] : [],
  );
  if (calls.length === 0) return 0;
  const idle = countsIdleCode
    ? new Set<number>()
    : new Set(context.toolUses.filter((use) => use.isCommentOnly).map(({ turn }) => turn));
  const succeeded = calls.filter(({ turn, result }) => result?.kind === 'ok' && !idle.has(turn));
  return succeeded.length / calls.length;
}

export const balancedToolCall: GroupReward = balancedToolCallWith(balancedToolCallVariants.paper);
