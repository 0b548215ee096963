/** CodeVision's inferred necessity of tools, from comparing the trajectories of a group. */
import { count, flag } from '@saccade/core/settings';
import { z } from 'zod';
import { defineReward } from '../define-reward.ts';
import type { RewardContext } from '../reward.ts';
import { toolRecord, usesOptionalTool } from './core-tools.ts';

const settings = z.strictObject({
  byAnyTool: flag({
    default: false,
    about: 'Whether trajectories are divided by any tool call, or by use of an optional tool.',
  }),
  mostSuccesses: count({
    min: 0,
    max: 100_000,
    default: 1,
    unit: 'trajectories',
    about: 'Most right answers without a tool for the tool to count as necessary.',
  }),
});

/**
 * How much tools add to the group's accuracy.
 *
 *   r_nec = max(0, mean accuracy with − mean accuracy without)
 *
 * 0 if more than `mostSuccesses` without are right, or if either side is empty.
 */
export function inferredNecessity(
  uses: readonly boolean[],
  isRight: readonly boolean[],
  mostSuccesses: number,
): number {
  const side = (used: boolean): readonly boolean[] => isRight.filter((_, i) => uses[i] === used);
  const [tool, plain] = [side(true), side(false)];
  const successes = plain.filter((right) => right).length;
  if (tool.length === 0 || plain.length === 0 || successes > mostSuccesses) return 0;
  const accuracy = tool.filter((right) => right).length / tool.length;
  return Math.max(0, accuracy - successes / plain.length);
}

/**
 * r_nec for every trajectory that used the tool and is right, 0 for the others.
 *
 * CodeVision, arXiv:2512.03746, eq. 3.
 */
export const suggestedTool = defineReward({
  name: 'suggested-tool',
  scope: 'group',
  description: 'What an optional tool adds to the group’s accuracy, for right answers with it.',
  paper: 'CodeVision, arXiv:2512.03746, eq. 3',
  settings,
  origins: { byAnyTool: 'paper', mostSuccesses: 'paper' },
  range: [0, 1],
  score({ trajectories }, contexts, { byAnyTool, mostSuccesses }) {
    const uses = trajectories.map((trajectory, index) => {
      const record = toolRecord(trajectory, contexts[index] as RewardContext);
      return byAnyTool ? record.callCount > 0 : usesOptionalTool(record, true);
    });
    const isRight = contexts.map(({ isCorrect }) => isCorrect);
    const necessity = inferredNecessity(uses, isRight, mostSuccesses);
    return uses.map((used, index) => (used && isRight[index] ? necessity : 0));
  },
});
