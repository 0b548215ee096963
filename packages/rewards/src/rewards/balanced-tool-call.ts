/** CodeDance's reward for tool calls, which shrinks and turns negative as the group gets better. */
import { flag, quantity, type SettingsOf } from '@saccade/core/settings';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import type { RewardContext } from '../reward.ts';

const settings = z.strictObject({
  gamma: quantity({
    min: 0,
    max: 1000,
    default: 4,
    unit: 'factor',
    about: 'γ: how sharply the incentive falls with the group’s accuracy.',
  }),
  delta: quantity({
    min: 0,
    max: 1,
    default: 0.2,
    unit: 'reward',
    about: 'δ: how far the incentive is shifted down; with 0 it never turns negative.',
  }),
  doubleSteepness: flag({
    default: false,
    about: 'Whether γ counts twice, as in the public code.',
  }),
  wrongWeight: quantity({
    min: 0,
    max: 100,
    default: 0.5,
    unit: 'factor',
    about: 'Leading weight of a wrong trajectory.',
  }),
  rightWeight: quantity({
    min: 0,
    max: 100,
    default: 1.5,
    unit: 'factor',
    about: 'Leading weight of a right trajectory.',
  }),
  countsIdleCode: flag({
    default: false,
    about: 'Whether code of nothing but comments counts as a successful call.',
  }),
});

/**
 * The settings of `balanced-tool-call`, with the Greek letters of CodeDance, arXiv:2512.17312,
 * §8.2.
 */
export type BalancedToolCallSettings = SettingsOf<typeof settings>;

/**
 * Value of a tool call at a group accuracy μ from 0 to 1.
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
  }: Pick<BalancedToolCallSettings, 'gamma' | 'delta' | 'doubleSteepness'>,
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
 * answer; its numbers are the code's. μ is the group's accuracy, as in the paper; the code takes the
 * mean of the total score. Whether a call succeeded is its status, not a word in its output.
 */
export const balancedToolCall = defineReward({
  name: 'balanced-tool-call',
  scope: 'group',
  description: 'Pays for successful calls while the group is weak, and charges once it is strong.',
  paper: 'CodeDance, arXiv:2512.17312, eq. 1',
  settings,
  origins: {
    gamma: 'note',
    delta: 'note',
    doubleSteepness: 'note',
    wrongWeight: 'reconstructed',
    rightWeight: 'reconstructed',
    countsIdleCode: 'reconstructed',
  },
  range(values) {
    const steepest = Math.max(values.rightWeight, values.wrongWeight);
    return [
      steepest * Math.min(0, toolCallIncentive(1, values)),
      steepest * Math.max(0, toolCallIncentive(0, values)),
    ];
  },
  derive: ({ gamma, delta, doubleSteepness }) => ({
    flip: 0.5 + Math.log((1 - delta) / delta) / (doubleSteepness ? 2 * gamma : gamma),
  }),
  score({ trajectories }, contexts, values) {
    const right = contexts.filter(({ isCorrect }) => isCorrect).length;
    const incentive = toolCallIncentive(right / Math.max(1, contexts.length), values);
    return trajectories.map((trajectory, index) => {
      const context = contexts[index] as RewardContext;
      const weight = context.isCorrect ? values.rightWeight : values.wrongWeight;
      const share = successShare(trajectory, context, values.countsIdleCode);
      return share === 0 ? 0 : weight * incentive * share;
    });
  },
});

function successShare(
  { turns }: Trajectory,
  context: RewardContext,
  countsIdleCode: boolean,
): number {
  const calls = turns.flatMap(({ action, result }, turn) =>
    isToolUse(action) ? [{ turn, result }] : [],
  );
  if (calls.length === 0) return 0;
  const idle = countsIdleCode
    ? new Set<number>()
    : new Set(context.toolUses.filter((use) => use.isCommentOnly).map(({ turn }) => turn));
  const succeeded = calls.filter(({ turn, result }) => result?.kind === 'ok' && !idle.has(turn));
  return succeeded.length / calls.length;
}
