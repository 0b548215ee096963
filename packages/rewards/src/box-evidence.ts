/** What each execution of a trajectory shows of the task's box, by rules: no model is asked. */
import { type Box, intersectionOverUnion } from '@saccade/code-effects';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import type { RewardContext } from './reward.ts';
import { cropIous } from './rewards/core-tools.ts';
import { taskFacts } from './task-facts.ts';

/** How well the crops of one execution hit the task's box; the best of them, 0 without any. */
export interface StepOverlap {
  /** IoU of a crop with the box. */
  readonly iou: number;
  /** Share of the box that a crop covers. */
  readonly coverage: number;
}

/**
 * The overlap of every execution's crops with the task's box, in the order of the executions; crops
 * of executions that failed, or that may not have taken place, show nothing.
 *
 * @returns undefined where the task has no box, or says that it needs no search
 */
export function stepOverlaps(
  { turns }: Pick<Trajectory, 'turns'>,
  context: Pick<RewardContext, 'metadata' | 'toolUses'>,
): readonly StepOverlap[] | undefined {
  const facts = taskFacts(context);
  const { box, needsSearch = true } = facts;
  if (box === undefined || !needsSearch) return undefined;
  const useOf = new Map(context.toolUses.map((use) => [use.turn, use]));
  return turns.flatMap(({ action, result }, turn): readonly StepOverlap[] => {
    if (!isToolUse(action)) return [];
    const ran = result?.kind === 'ok' ? (useOf.get(turn)?.operations ?? []) : [];
    const crops = ran.filter(({ kind, isCertain }) => kind === 'crop' && isCertain);
    const coverages = crops.map(({ canonicalBox }) =>
      canonicalBox === undefined ? 0 : coverageOf(box, canonicalBox),
    );
    return [
      {
        iou: Math.max(0, ...cropIous(facts, crops, 'canonical')),
        coverage: Math.max(0, ...coverages),
      },
    ];
  });
}

/** |crop ∩ box| / |box|, from IoU = ∩ / (|crop| + |box| − ∩). */
function coverageOf(box: Box, crop: Box): number {
  const area = ([left, top, right, bottom]: Box): number => (right - left) * (bottom - top);
  const iou = intersectionOverUnion(crop, box);
  const own = area(box);
  return own > 0 ? Math.min(1, (iou * (area(crop) + own)) / (1 + iou) / own) : 0;
}

/** From when on a crop shows the box. */
export interface BoxThresholds {
  /** IoU from which on it shows the box clearly: grade 1. */
  readonly clearIou: number;
  /** Share of the box from which on it shows the box partly, cut off or small: grade 0.5. */
  readonly partlyShare: number;
}

/**
 * Grades of executions on the crop judge's scale: 1 for a crop that fits the box, 0.5 for one that
 * shows it cut off or among much else, 0.25 for other images, 0 for none.
 *
 * CodeV, arXiv:2511.19661, template 13.2, with boxes in place of the model's eyes.
 *
 * @param imageCounts of each execution: images that came back
 */
export function gradeByBox(
  overlaps: readonly StepOverlap[],
  imageCounts: readonly number[],
  { clearIou, partlyShare }: BoxThresholds,
): readonly number[] {
  return overlaps.map(({ iou, coverage }, step) => {
    if ((imageCounts[step] ?? 0) === 0) return 0;
    if (iou >= clearIou) return 1;
    return coverage >= partlyShare ? 0.5 : 0.25;
  });
}
