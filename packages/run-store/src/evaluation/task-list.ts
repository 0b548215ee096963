/** `samples/<suite>/tasks.jsonl`: the tasks of a suite, without their images, one row each. */
import { join } from 'node:path';
import { writeDurably } from '../durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { FIRST_LINK, readRows, sealRow } from '../rows.ts';
import { sha256 } from '../sealed-json.ts';
import { damageOf, type Read } from '../store-error.ts';

/** A task of a suite: what was asked, what is right, and the slices that it belongs to. */
export interface EvaluatedTask {
  /** Place in the suite, from 0. */
  readonly index: number;
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  /** The task's own; JSON. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Its value in each slice that it belongs to, e.g. `{ difficulty: '3' }`. */
  readonly slices: Readonly<Record<string, string>>;
  /** Images and videos by their names, with the SHA-256 (hex) of their bytes. */
  readonly files: Readonly<Record<string, string>>;
}

/** `<evaluation>/samples/<suite>`. */
export function samplesOf(directory: string, suite: string): string {
  return join(directory, 'samples', suite);
}

function pathIn(directory: string, suite: string): string {
  return join(samplesOf(directory, suite), 'tasks.jsonl');
}

/** Digest of a task: of everything that a model or a verifier sees of it. */
export function taskDigest({ id, question, answer, metadata, files }: EvaluatedTask): string {
  return sha256(JSON.stringify({ id, question, answer, metadata, files }));
}

/** Digest of a list of tasks, in order. */
export function taskListDigest(tasks: readonly EvaluatedTask[]): string {
  return sha256(tasks.map(taskDigest).join('\n'));
}

/** Writes the tasks of a suite. @throws StoreError if it cannot */
export function writeTaskList(
  directory: string,
  suite: string,
  tasks: readonly EvaluatedTask[],
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  let previous = FIRST_LINK;
  const lines = tasks.map((task) => {
    const { line, own } = sealRow(JSON.stringify(task), previous);
    previous = own;
    return `${line}\n`;
  });
  writeDurably(fileSystem, pathIn(directory, suite), lines.join(''));
}

/** Reads the tasks of a suite; rows that are damaged are left out and named. */
export function readTaskList(
  directory: string,
  suite: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<readonly EvaluatedTask[]> {
  const path = pathIn(directory, suite);
  let bytes: Buffer;
  try {
    bytes = fileSystem.readFile(path);
  } catch (error) {
    return { value: [], damage: [damageOf(path, error)] };
  }
  const { value, damage } = readRows(path, bytes);
  return { value: value.rows.map((row) => row.value as unknown as EvaluatedTask), damage };
}
