/**
 * Samples of a suite on the disk: sealed rows in files of bounded size, `scored-000.jsonl` and so on.
 * Trajectories whose scoring failed are in `unscored-000.jsonl`, so that no rollout is lost.
 */
import { join } from 'node:path';
import { messageOf } from '@saccade/core';
import {
  isScored,
  parseTrajectoryLine,
  type ScoredTrajectory,
  type StoredTrajectory,
  type TrajectoryLine,
} from '@saccade/trajectory';
import type { FileSystem } from '../file-system.ts';
import { loadImages } from '../image-files.ts';
import { readRows } from '../rows.ts';
import { type Damage, damageOf, oneLine, type Read } from '../store-error.ts';
import { samplesOf } from './task-list.ts';

/** `scored` has rewards; of `unscored` the tag `scoringFailure` says why not. */
export type SampleKind = 'scored' | 'unscored';

/** One sample of a task, without its images: their `png` is empty. */
export interface StoredSample extends TrajectoryLine {
  /** Loads the images. One that is missing or damaged stays empty, and is named. */
  load(): Promise<Read<StoredTrajectory['trajectory']>>;
}

/** A sample that has been scored; `trajectory.reward` is its score, 0 to 1. */
export interface ScoredSample extends StoredSample {
  readonly trajectory: ScoredTrajectory;
}

const NAME = /^(scored|unscored)-(\d{3,})\.jsonl$/;

/** Path of the n-th file of a kind. */
export function sampleFile(folder: string, kind: SampleKind, index: number): string {
  return join(folder, `${kind}-${String(index).padStart(3, '0')}.jsonl`);
}

/** Paths of the files of a kind, in order. */
export function listSampleFiles(
  fileSystem: FileSystem,
  directory: string,
  suite: string,
  kind: SampleKind,
): Read<readonly string[]> {
  const folder = samplesOf(directory, suite);
  if (fileSystem.status(folder) === undefined) return { value: [], damage: [] };
  let names: readonly string[];
  try {
    names = fileSystem.readDirectory(folder);
  } catch (error) {
    return { value: [], damage: [damageOf(folder, error)] };
  }
  const indices = names
    .flatMap((name) => {
      const [, found, index] = NAME.exec(name) ?? [];
      return found === kind ? [Number(index)] : [];
    })
    .sort((a, b) => a - b);
  const damage: Damage[] = [];
  for (let index = 0; index <= (indices.at(-1) ?? -1); index++) {
    if (indices.includes(index)) continue;
    const path = sampleFile(folder, kind, index);
    const remedy = 'Restore it from a copy, or run the same `saccade eval` again.';
    damage.push({ path, problem: 'it is missing', remedy });
  }
  return { value: indices.map((index) => sampleFile(folder, kind, index)), damage };
}

/** The name of a sample within its suite. */
export function sampleKey(taskId: string, sampleIndex: number): string {
  return `${sampleIndex} ${taskId}`;
}

/**
 * The samples of a suite of one kind, file by file, so that a suite of any size can be read. Each key
 * comes once. Damage is added to a list.
 */
export function* readSampleFiles(
  fileSystem: FileSystem,
  { directory, suite, kind }: { directory: string; suite: string; kind: SampleKind },
  damage: Damage[],
): Generator<StoredSample> {
  const files = listSampleFiles(fileSystem, directory, suite, kind);
  damage.push(...files.damage);
  const seen = new Set<string>();
  for (const path of files.value) {
    for (const sample of readSampleFile(fileSystem, path, damage)) {
      const { trajectory } = sample;
      if (kind === 'scored' && !isScored(trajectory)) {
        const problem = `the sample ${trajectory.id} has no score`;
        damage.push({ path, problem, remedy: 'Run the same `saccade eval` again.' });
        continue;
      }
      const key = sampleKey(trajectory.taskId, trajectory.sampleIndex);
      if (seen.has(key)) continue;
      seen.add(key);
      yield sample;
    }
  }
}

function* readSampleFile(
  fileSystem: FileSystem,
  path: string,
  damage: Damage[],
): Generator<StoredSample> {
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(path);
  } catch (error) {
    damage.push(damageOf(path, error));
    return;
  }
  const read = readRows(path, bytes);
  damage.push(...read.damage);
  for (const { json, line } of read.value.rows) {
    let parsed: TrajectoryLine;
    try {
      parsed = parseTrajectoryLine(json, `row ${line}`);
    } catch (error) {
      const problem = oneLine(messageOf(error)).replace(/\.? Remove the line.*$/, '');
      damage.push({ path, problem, remedy: 'Run the same `saccade eval` again.' });
      continue;
    }
    yield { ...parsed, load: () => loadImages(fileSystem, path, parsed) };
  }
}
