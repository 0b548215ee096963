/** Misuse of tools that is visible without a judge. */
import type { Operation, TurnToolUse } from '@saccade/code-effects';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';

/**
 * - `invalidBox` a crop reaches outside of its image, or has swapped sides or no area;
 * - `noOpCrop` a crop of nearly all of its image, or of what was cropped before;
 * - `avoidableError` an error of a class that this trajectory has met before;
 * - `noWork` the code only loads, saves or shows images, or is nothing but comments.
 */
export type Redline = 'invalidBox' | 'noOpCrop' | 'avoidableError' | 'noWork';

/** From when on a crop shows nothing new. */
export interface RedlineOptions {
  /** Share of its image, 0 to 1. */
  readonly wholeShare: number;
  /** IoU with an earlier crop, 0 to 1. */
  readonly repeatedIou: number;
}

/**
 * The redlines of every turn with code, in order. Crops that may have been attempted count, also
 * behind conditions that cannot be decided.
 *
 * CodeV, arXiv:2511.19661, §4.3 (redlines): invalid coordinates, repeated no-op crops, avoidable
 * sandbox errors, reading and saving as a scratchpad.
 */
export function redlinesOf(
  { turns }: Trajectory,
  { toolUses }: Pick<RewardContext, 'toolUses'>,
  options: RedlineOptions,
): readonly (readonly Redline[])[] {
  const useOf = new Map(toolUses.map((use) => [use.turn, use]));
  const met = new Set<string>();
  return turns.flatMap(({ action, result }, turn) => {
    if (!isToolUse(action)) return [];
    const lines = new Set<Redline>(useLines(useOf.get(turn), options));
    if (result !== undefined && result.kind !== 'ok') {
      const error = result.errorType ?? result.kind;
      if (met.has(error)) lines.add('avoidableError');
      met.add(error);
    }
    return [[...lines]];
  });
}

function useLines(use: TurnToolUse | undefined, options: RedlineOptions): readonly Redline[] {
  if (use === undefined) return [];
  const crops = use.operations.filter(({ kind }) => kind === 'crop');
  const isIdle = use.isCommentOnly || use.operations.length > 0;
  const isFileWork = use.operations.every(({ family }) => family === 'io');
  return [
    ...(crops.some(({ boxProblem }) => boxProblem !== undefined) ? ['invalidBox' as const] : []),
    ...(crops.some((crop) => showsNothingNew(crop, options)) ? ['noOpCrop' as const] : []),
    ...(isIdle && isFileWork ? ['noWork' as const] : []),
  ];
}

function showsNothingNew(crop: Operation, { wholeShare, repeatedIou }: RedlineOptions): boolean {
  return (crop.share ?? 0) >= wholeShare || (crop.repeatIou ?? 0) >= repeatedIou;
}
