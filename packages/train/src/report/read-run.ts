/** What a run directory holds, as far as it is there: the report is made of nothing else. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { messageOf } from '@saccade/core';
import {
  type ScoredTrajectory,
  type Tags,
  type Trajectory,
  type TrajectoryLine,
  withImages,
} from '@saccade/trajectory';
import { readTrajectoryLines } from '@saccade/trajectory/files';
import type { RunConfig } from '../config.ts';
import { type MetricsRow, readMetrics } from '../metrics-log.ts';

/** One trajectory of an evaluation whose pictures are still on disk. */
export interface KeptTrajectory {
  readonly trajectory: Trajectory | ScoredTrajectory;
  readonly tags: Tags;
  /** Loads the pictures; one that cannot be read stays empty. */
  load(): Promise<Trajectory | ScoredTrajectory>;
}

export interface RunRecord {
  readonly directory: string;
  readonly config?: Partial<RunConfig>;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly metrics: readonly MetricsRow[];
  /** Evaluation after the cold start, by task. */
  readonly before: ReadonlyMap<string, KeptTrajectory>;
  /** Evaluation at the end, by task. */
  readonly after: ReadonlyMap<string, KeptTrajectory>;
  /** One sentence for each thing that is not there or cannot be read. */
  readonly gaps: readonly string[];
}

/** Reads what there is; what is not becomes a sentence in `gaps`. */
export async function readRun(directory: string): Promise<RunRecord> {
  const gaps: string[] = [];
  const config = readObject(join(directory, 'config.json'), gaps) as Partial<RunConfig> | undefined;
  const environment = readObject(join(directory, 'environment.json'), gaps);
  const metrics = readRows(join(directory, 'metrics.jsonl'), gaps);
  const before = await readKept(directory, 'evaluation-sft', 'after the cold start', gaps);
  const after = await readKept(directory, 'evaluation-final', 'at the end', gaps);
  return {
    directory,
    ...(config && { config }),
    ...(environment && { environment }),
    metrics,
    before,
    after,
    gaps,
  };
}

function readObject(path: string, gaps: string[]): Readonly<Record<string, unknown>> | undefined {
  const name = nameOf(path);
  if (!existsSync(path)) {
    gaps.push(`${name} is not there.`);
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
    gaps.push(`${name} is not a JSON object.`);
  } catch (error) {
    gaps.push(`${name} cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

function readRows(path: string, gaps: string[]): readonly MetricsRow[] {
  try {
    const rows = readMetrics(path);
    if (rows.length === 0) gaps.push('metrics.jsonl has no rows yet: there are no curves.');
    return rows;
  } catch (error) {
    gaps.push(`metrics.jsonl cannot be read: ${messageOf(error)}`);
    return [];
  }
}

async function readKept(
  directory: string,
  name: string,
  when: string,
  gaps: string[],
): Promise<ReadonlyMap<string, KeptTrajectory>> {
  const kept = new Map<string, KeptTrajectory>();
  const file = `trajectories/${name}.jsonl`;
  const path = join(directory, file);
  if (!existsSync(path)) {
    gaps.push(`${file} is not there: the evaluation ${when} has not been done.`);
    return kept;
  }
  try {
    for await (const line of readTrajectoryLines(path)) {
      const { trajectory, tags } = line;
      kept.set(trajectory.taskId, { trajectory, tags, load: () => loadImages(path, line) });
    }
    if (kept.size === 0) gaps.push(`${file} is empty.`);
  } catch (error) {
    // A run that was killed leaves its last line cut short; what came before it is shown.
    gaps.push(`${file} is not whole: ${messageOf(error)}`);
  }
  return kept;
}

async function loadImages(path: string, line: TrajectoryLine): Promise<Trajectory> {
  const { trajectory } = await withImages(line, async (file) => {
    const relative = normalize(file);
    if (isAbsolute(relative) || relative.startsWith('..')) return new Uint8Array(0);
    try {
      return new Uint8Array(await readFile(join(dirname(path), relative)));
    } catch {
      // The page says in the picture's place that it is missing.
      return new Uint8Array(0);
    }
  });
  return trajectory;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
