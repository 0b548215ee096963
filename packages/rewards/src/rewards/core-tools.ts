/** CodeVision's core tools in a trajectory: which were used, in which order, how well a crop hit. */

import type { Operation } from '@saccade/code-effects';
import { intersectionOverUnion } from '@saccade/code-effects';
import { isToolUse, type Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';
import { type TaskFacts, taskFacts } from '../task-facts.ts';

export const orientationTools: ReadonlySet<string> = new Set([
  'rotate_90',
  'rotate_180',
  'rotate_270',
  'flip_horizontal',
  'flip_vertical',
]);

/** Families that make a picture or read one; files, shows and statistics are no tools here. */
const toolFamilies: ReadonlySet<string> = new Set([
  'crop',
  'orientation',
  'scale',
  'enhance',
  'analysis',
  'draw',
  'composite',
  'other',
]);

export interface ToolRecord {
  readonly facts: TaskFacts;
  /** Tool calls, whatever came of them. */
  readonly callCount: number;
  readonly hasFailedCall: boolean;
  /** Operations of executions without an error, in order, that certainly took place. */
  readonly operations: readonly Operation[];
  /** Those of the core tools: quarter turns, flips, crops. */
  readonly core: readonly Operation[];
}

export function isCore(kind: string): boolean {
  return kind === 'crop' || orientationTools.has(kind);
}

export function toolRecord({ turns }: Trajectory, context: RewardContext): ToolRecord {
  const calls = turns.filter(({ action }) => isToolUse(action));
  const ran = new Set(turns.flatMap(({ result }, turn) => (result?.kind === 'ok' ? [turn] : [])));
  const operations = context.toolUses
    .filter(({ turn }) => ran.has(turn))
    .flatMap((use) => use.operations)
    .filter(({ isCertain, family }) => isCertain && toolFamilies.has(family));
  return {
    facts: taskFacts(context),
    callCount: calls.length,
    hasFailedCall: calls.some(({ result }) => result !== undefined && result.kind !== 'ok'),
    operations,
    core: operations.filter(({ kind }) => isCore(kind)),
  };
}

/** In which frame the box of a crop is compared: the public code maps nothing. */
export type Frame = 'canonical' | 'input';

/** IoU of every crop with the box that is asked about, in order. */
export function cropIous({ facts, core }: ToolRecord, frame: Frame): readonly number[] {
  const { box } = facts;
  if (box === undefined) return [];
  return core.flatMap((done): readonly number[] => {
    if (done.kind !== 'crop') return [];
    const own = frame === 'canonical' ? done.canonicalBox : done.box;
    return [own === undefined ? 0 : intersectionOverUnion(own, box)];
  });
}

/**
 * What is gained over the best so far, summed: telescopes to the best.
 *
 *   Σ_t max(0, IoU_t − max_{s<t} IoU_s) = max_t IoU_t
 */
export function iouGains(ious: readonly number[]): readonly number[] {
  let best = 0;
  return ious.map((iou) => {
    const gain = Math.max(0, iou - best);
    best = Math.max(best, iou);
    return gain;
  });
}

/**
 * Share of the task's required tools that were used, the crop counting by its IoU.
 *
 *   r_mand = (|required without crop, used| + Σ IoU gains)/N;   0 for N = 0
 */
export function mandatoryShare(record: ToolRecord, frame: Frame): number {
  const required = record.facts.requiredTools ?? [];
  if (required.length === 0) return 0;
  const used = new Set<string>(record.core.map(({ kind }) => kind));
  const plain = new Set(required.filter((kind) => kind !== 'crop'));
  const hits = [...plain].filter((kind) => used.has(kind)).length;
  const gains = required.includes('crop') ? iouGains(cropIous(record, frame)) : [];
  const gained = gains.reduce((sum, gain) => sum + gain, 0);
  return Math.min(1, (hits + gained) / required.length);
}

/** Whether an operation besides the required ones was used, of those that change a picture. */
export function usesOptionalTool({ facts, operations }: ToolRecord, countsCore: boolean): boolean {
  const required = facts.requiredTools ?? [];
  return operations.some(({ kind, isNoOp }) => {
    if (isNoOp || orientationTools.has(kind)) return false;
    if (kind === 'crop') return countsCore && !required.includes('crop');
    return true;
  });
}
