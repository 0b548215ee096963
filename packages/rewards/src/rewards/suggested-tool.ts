/** CodeVision's inferred necessity of tools, by comparing a group's trajectories. */
import { type Sourced, sourced, type Variants, valuesOf } from '../provenance.ts';
import type { GroupReward, RewardContext } from '../reward.ts';
import { toolRecord, usesOptionalTool } from './core-tools.ts';

export interface SuggestedToolOptions {
  /** Whether trajectories are parted by any tool call, or by the use of an optional tool. */
  readonly byAnyTool: boolean;
  /** Successes without a tool at most, for a tool to count as necessary. */
  readonly mostSuccesses: number;
}

export const suggestedToolVariants: Variants<SuggestedToolOptions> = {
  paper: { byAnyTool: sourced(false, 'paper'), mostSuccesses: sourced(1, 'paper') },
  code: { byAnyTool: sourced(true, 'code'), mostSuccesses: sourced(1, 'code') },
};

/**
 * What tools add to the group's accuracy.
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
export function suggestedToolWith(constants: Sourced<SuggestedToolOptions>): GroupReward {
  const { byAnyTool, mostSuccesses } = valuesOf(constants);
  return {
    name: 'suggested-tool',
    scope: 'group',
    paper: 'CodeVision, arXiv:2512.03746, eq. 3',
    range: [0, 1],
    constants: { ...constants },
    with: (changed) =>
      suggestedToolWith({ ...constants, ...changed } as Sourced<SuggestedToolOptions>),
    score({ trajectories }, contexts) {
      const uses = trajectories.map((trajectory, index) => {
        const record = toolRecord(trajectory, contexts[index] as RewardContext);
        return byAnyTool ? record.callCount > 0 : usesOptionalTool(record, true);
      });
      const isRight = contexts.map(({ isCorrect }) => isCorrect);
      const necessity = inferredNecessity(uses, isRight, mostSuccesses);
      return uses.map((used, index) => (used && isRight[index] ? necessity : 0));
    },
  };
}

export const suggestedTool: GroupReward = suggestedToolWith(suggestedToolVariants.paper);
