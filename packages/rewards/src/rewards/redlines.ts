/** Misuse of tools that needs no judge to be seen. */

import type { TurnToolUse } from '@saccade/code-effects';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';

/**
 * - `invalidBox` a crop reaches outside of its picture, or has swapped sides or no area;
 * - `noOpCrop` a crop of nearly all of its picture, or of what was cropped before;
 * - `avoidableError` an error of a class that this trajectory has met before;
 * - `noWork` the code only loads, saves or shows pictures, or is nothing but comments.
 */
export type Redline = 'invalidBox' | 'noOpCrop' | 'avoidableError' | 'noWork';

/**
 * The redlines of every turn with code, in order.
 *
 * CodeV, arXiv:2511.19661, §4.3 (redlines): invalid coordinates, repeated no-op crops, avoidable
 * sandbox errors, reading and saving as a scratchpad.
 */
export function redlinesOf(
  { turns }: Trajectory,
  { toolUses }: Pick<RewardContext, 'toolUses'>,
): readonly (readonly Redline[])[] {
  const useOf = new Map(toolUses.map((use) => [use.turn, use]));
  const met = new Set<string>();
  return turns.flatMap(({ action, result }, turn) => {
    if (!isToolUse(action)) return [];
    const lines = new Set<Redline>(useLines(useOf.get(turn)));
    if (result !== undefined && result.kind !== 'ok') {
      const error = result.errorType ?? result.kind;
      if (met.has(error)) lines.add('avoidableError');
      met.add(error);
    }
    return [[...lines]];
  });
}

function useLines(use: TurnToolUse | undefined): readonly Redline[] {
  if (use === undefined) return [];
  const crops = use.operations.filter(({ kind, isCertain }) => kind === 'crop' && isCertain);
  const isIdle = use.isCommentOnly || use.operations.length > 0;
  const isFileWork = use.operations.every(({ family }) => family === 'io');
  return [
    ...(crops.some(({ boxProblem }) => boxProblem !== undefined) ? ['invalidBox' as const] : []),
    ...(crops.some(({ isNoOp }) => isNoOp) ? ['noOpCrop' as const] : []),
    ...(isIdle && isFileWork ? ['noWork' as const] : []),
  ];
}
