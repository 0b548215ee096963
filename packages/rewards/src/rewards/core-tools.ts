/**
 * CodeVision's core tools in a trajectory: those used, those possibly used, and how well crops hit.
 */

import { type Box, intersectionOverUnion, type Operation } from '@saccade/code-effects';
import { choice, quantity } from '@saccade/core/settings';

import { isToolUse, type Trajectory } from '@saccade/trajectory';
import type { RewardContext } from '../reward.ts';
import { type TaskFacts, taskFacts } from '../task-facts.ts';

/**
 * Operations that turn or flip an image by a quarter turn or an axis. Together with `crop` they
 * are CodeVision's core tools.
 */
export const orientationTools: ReadonlySet<string> = new Set([
  'rotate_90',
  'rotate_180',
  'rotate_270',
  'flip_horizontal',
  'flip_vertical',
]);

/** Families that make an image or read one; files, shows and statistics are not tools here. */
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

/**
 * The facts known about the core tools in a trajectory. `operations` and `core` certainly took
 * place and count for bonuses; `possible`, `attempted` and the `mayHave…` fields count for
 * penalties.
 */
export interface ToolRecord {
  readonly facts: TaskFacts;
  /** Tool calls, whatever their outcome. */
  readonly callCount: number;
  readonly hasFailedCall: boolean;
  /** Operations of executions without an error, in order, that certainly took place: for bonuses. */
  readonly operations: readonly Operation[];
  /** Those of the core tools: quarter turns, flips, crops. */
  readonly core: readonly Operation[];
  /** Core operations of all calls, also failed ones, that may have taken place: for penalties. */
  readonly possible: readonly Operation[];
  /** Core tools that some call may have used. */
  readonly attempted: ReadonlySet<string>;
  /** Whether some call may have turned or flipped an image, with a tool that is known or not. */
  readonly mayHaveTurned: boolean;
  /** Whether some call may have cropped an image. */
  readonly mayHaveCropped: boolean;
  /** Whether some call may have used core tools that are not known. */
  readonly mayHaveUsedOthers: boolean;
}

function isCore(kind: string): boolean {
  return kind === 'crop' || orientationTools.has(kind);
}

/** Orientations that are not core tools by name, but may be in effect. */
function turns(kind: string): boolean {
  return orientationTools.has(kind) || kind === 'transpose' || kind === 'transverse';
}

/** Collects the tool use of a trajectory from the analysis of its code and from its results. */
export function toolRecord({ turns: steps }: Trajectory, context: RewardContext): ToolRecord {
  const calls = steps.filter(({ action }) => isToolUse(action));
  const ran = new Set(steps.flatMap(({ result }, turn) => (result?.kind === 'ok' ? [turn] : [])));
  const operations = context.toolUses
    .filter(({ turn }) => ran.has(turn))
    .flatMap((use) => use.operations)
    .filter(({ isCertain, family }) => isCertain && toolFamilies.has(family));
  const attempts = context.toolUses.flatMap((use) => use.attempts);
  const isOpaque = attempts.some(({ kinds }) => kinds === 'any');
  const named = attempts.flatMap(({ kinds }) => (kinds === 'any' ? [] : [kinds]));
  return {
    facts: taskFacts(context),
    callCount: calls.length,
    hasFailedCall: calls.some(({ result }) => result !== undefined && result.kind !== 'ok'),
    operations,
    core: operations.filter(({ kind }) => isCore(kind)),
    possible: context.toolUses.flatMap((use) => use.operations).filter(({ kind }) => isCore(kind)),
    attempted: new Set(named.flatMap((kinds) => (kinds.length === 1 ? kinds : [])).filter(isCore)),
    mayHaveTurned: isOpaque || named.some((kinds) => kinds.some(turns)),
    mayHaveCropped: isOpaque || named.some((kinds) => kinds.includes('crop')),
    mayHaveUsedOthers: isOpaque || named.some((kinds) => kinds.length > 1 && kinds.some(isCore)),
  };
}

/** In which frame the box of a crop is compared: the public code maps nothing. */
export type Frame = 'canonical' | 'input';

/** A setting: the frame in which crops are compared with the task's box. */
export const frameSetting = choice(['canonical', 'input'], {
  default: 'canonical',
  about: 'Frame in which a crop is compared with the box; the public code maps nothing: input.',
});

/** A setting: an IoU below which a crop misses. */
export const leastIouSetting = (preset: number, about: string) =>
  quantity({ min: 0, max: 1, default: preset, unit: 'IoU', about });

/** Pixels are compared on a grid this fine: maps of equal boxes differ by less, by rounding. */
const GRID = 2 ** 20;

function onGrid(box: Box): Box {
  const [left, top, right, bottom] = box.map((side) => Math.round(side * GRID) / GRID);
  return [left ?? 0, top ?? 0, right ?? 0, bottom ?? 0];
}

/**
 * IoU of every crop with the box that is asked about, in order; 0 for a crop without a known box.
 * Boxes that are equal up to rounding give equal numbers.
 */
export function cropIous(
  { box }: TaskFacts,
  operations: readonly Operation[],
  frame: Frame,
): readonly number[] {
  if (box === undefined) return [];
  return operations.flatMap((done): readonly number[] => {
    if (done.kind !== 'crop') return [];
    const own = frame === 'canonical' ? done.canonicalBox : done.box;
    return [own === undefined ? 0 : intersectionOverUnion(onGrid(own), onGrid(box))];
  });
}

/**
 * Share of the task's required tools that were used, the crop counting by its IoU.
 *
 *   r_mand = (|required without crop, used| + max_t IoU_t)/N;   0 for N = 0
 *
 * The paper's gains over the best so far telescope to the best:
 * Σ_t max(0, IoU_t − max_{s<t} IoU_s) = max_t IoU_t. Taking the maximum keeps the sum's rounding out,
 * so trajectories with the same best crop get the same number.
 */
export function mandatoryShare(record: ToolRecord, frame: Frame): number {
  const required = record.facts.requiredTools ?? [];
  if (required.length === 0) return 0;
  const used = new Set<string>(record.core.map(({ kind }) => kind));
  const plain = new Set(required.filter((kind) => kind !== 'crop'));
  const hits = [...plain].filter((kind) => used.has(kind)).length;
  const ious = required.includes('crop') ? cropIous(record.facts, record.core, frame) : [];
  return Math.min(1, (hits + Math.max(0, ...ious)) / required.length);
}

/** Whether an operation besides the required ones was used, of those that change an image. */
export function usesOptionalTool({ facts, operations }: ToolRecord, countsCore: boolean): boolean {
  const required = facts.requiredTools ?? [];
  return operations.some(({ kind, isNoOp }) => {
    if (isNoOp || orientationTools.has(kind)) return false;
    if (kind === 'crop') return countsCore && !required.includes('crop');
    return true;
  });
}
