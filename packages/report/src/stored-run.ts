/** The trajectories a run has kept, by file and group, with what is known of their tasks. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DataError } from '@saccade/core';
import type { ScoringTask } from '@saccade/rewards';
import {
  describeDamage,
  inspectConfig,
  listTrajectorySets,
  readTrajectorySet,
  trajectoriesOf,
  WITHOUT_CHECKSUMS,
} from '@saccade/run-store';
import { isScored, type ScoredTrajectory, type Tags } from '@saccade/trajectory';

export interface StoredGroup {
  readonly taskId: string;
  readonly question: string;
  /** `answer` is empty and `metadata` has what is known where the run did not keep them. */
  readonly task: ScoringTask;
  readonly trajectories: readonly ScoredTrajectory[];
}

/** One file of `trajectories/`. */
export interface StoredSet {
  /** Its name without `.jsonl`: `step-000010`, `evaluation-final`. */
  readonly name: string;
  /** Reinforcement-learning steps done, for what was rolled out to learn from. */
  readonly step?: number;
  readonly groups: readonly StoredGroup[];
}

export interface StoredRun {
  readonly directory: string;
  /** Steps in order, then evaluations. */
  readonly sets: readonly StoredSet[];
  /** One sentence for each thing that cannot be read. */
  readonly gaps: readonly string[];
}

const remedy =
  'Train with --set keepTrajectoriesEverySteps=1, which keeps a group of every step, or with ' +
  'evaluation.keepTrajectories above 0.';

/**
 * Reads what a run has kept, without images.
 *
 * @param only names of files without `.jsonl`, or `all`; default: all steps, and without any all
 *   evaluations
 * @throws DataError if there is no such directory, nothing is kept, or `only` names what is not there
 */
export async function readStoredRun(
  directory: string,
  only: readonly string[] | 'all' = [],
): Promise<StoredRun> {
  if (!existsSync(directory)) {
    throw new DataError(`There is no run directory ${directory}. Give the path of a run.`);
  }
  const listed = listTrajectorySets(directory);
  const names = [...listed.value].sort(stepsFirst);
  if (names.length === 0) {
    throw new DataError(`${directory} keeps no trajectories. ${remedy}`);
  }
  const asked = only === 'all' ? names : only;
  const missing = asked.find((name) => !names.includes(name));
  if (missing !== undefined) {
    throw new DataError(
      `${directory} keeps no trajectories called "${missing}". Known: ${names.join(', ')}.`,
    );
  }
  const steps = names.filter((name) => stepOf(name) !== undefined);
  const chosen = asked.length > 0 ? asked : steps.length > 0 ? steps : names;
  const gaps = [...checksumGap(directory), ...listed.damage.map(describeDamage)];
  const sets = chosen.map((name) => readSet(directory, name, gaps));
  if (sets.every(({ groups }) => groups.length === 0)) {
    throw new DataError(
      `${directory} keeps no scored trajectories in ${chosen.join(', ')}. ${gaps.join(' ') || remedy}`,
    );
  }
  return { directory, sets, gaps };
}

/** Says so of a run whose files have no checksums. */
function checksumGap(directory: string): readonly string[] {
  return inspectConfig(directory).value?.isChecked === false ? [WITHOUT_CHECKSUMS] : [];
}

/** `step-000010` is 10. */
function stepOf(name: string): number | undefined {
  const digits = /^step-(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function stepsFirst(a: string, b: string): number {
  const rank = (name: string): number => (stepOf(name) === undefined ? 1 : 0);
  return rank(a) - rank(b) || a.localeCompare(b);
}

function readSet(directory: string, name: string, gaps: string[]): StoredSet {
  const groups = new Map<string, { tags: Tags; trajectories: ScoredTrajectory[] }>();
  let unscored = 0;
  const { value, damage } = readTrajectorySet(directory, name);
  gaps.push(...damage.map(describeDamage));
  for (const { trajectory, tags } of value) {
    // A group is judged by its own trajectories: its baseline is not one of them.
    if (trajectory.isBaseline === true) continue;
    if (!isScored(trajectory)) {
      unscored++;
      continue;
    }
    const own = groups.get(trajectory.taskId);
    if (own === undefined) groups.set(trajectory.taskId, { tags, trajectories: [trajectory] });
    else own.trajectories.push(trajectory);
  }
  if (unscored > 0) gaps.push(`${name}.jsonl has ${unscored} trajectories without a reward.`);
  const path = join(trajectoriesOf(directory), `${name}.jsonl`);
  const step = stepOf(name);
  return {
    name,
    ...(step !== undefined && { step }),
    groups: [...groups].map(([taskId, { tags, trajectories }]) => ({
      taskId,
      question: String(tags.question ?? ''),
      task: taskOf(tags, path),
      trajectories,
    })),
  };
}

/** Runs that kept no metadata kept at least the box. */
function taskOf(tags: Tags, path: string): ScoringTask {
  const answer = String(tags.answer ?? '');
  if (typeof tags.metadata === 'string') {
    return { answer, metadata: readMetadata(tags.metadata, path) };
  }
  const box = typeof tags.box === 'string' && tags.box !== '' ? tags.box.split(',') : [];
  return { answer, metadata: box.length === 4 ? { box: box.map(Number) } : {} };
}

function readMetadata(text: string, path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${path}: tags.metadata is not JSON. Write the file again.`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new DataError(`${path}: tags.metadata is not an object. Write the file again.`);
}
