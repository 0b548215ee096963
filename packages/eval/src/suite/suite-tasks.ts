/** The tasks of an open suite: listed with their digests before anything is sampled. */
import { createHash } from 'node:crypto';
import { ConfigError, DataError, type EventSink, messageOf } from '@saccade/core';
import type { Task } from '@saccade/gym';
import type { EvaluatedTask } from '@saccade/run-store';
import { slicesOf } from './define-suite.ts';
import type { OpenSuite } from './open-suite.ts';

/** Bytes of images and videos of tasks that are kept, so that they need not be made twice. */
const CACHE_BYTES = 256 * 2 ** 20;
/** Tasks that are made at a time. */
const AT_A_TIME = 8;
/** Tasks that cannot be made and are named in the error. */
const NAMED = 3;

/** Makes the tasks of a suite; small ones are kept. */
export class SuiteTasks {
  readonly #suite: OpenSuite;
  readonly #kept = new Map<number, Task>();
  #keptBytes = 0;

  constructor(suite: OpenSuite) {
    this.#suite = suite;
  }

  get count(): number {
    return this.#suite.taskCount;
  }

  /**
   * Every task without its images. All files of the suite are read, so that one that is missing is
   * found before anything is sampled.
   *
   * @throws DataError if tasks cannot be made, naming the first of them
   * @throws ConfigError if two tasks have one id
   */
  async list(onEvent: EventSink): Promise<readonly EvaluatedTask[]> {
    const { name } = this.#suite;
    const stage = `tasks of ${name}`;
    const listed: EvaluatedTask[] = new Array(this.count);
    const problems: { readonly index: number; readonly problem: string }[] = [];
    let [next, done] = [0, 0];
    const work = async (): Promise<void> => {
      while (next < this.count) {
        const index = next++;
        try {
          listed[index] = this.#describe(await this.task(index), index);
        } catch (error) {
          problems.push({ index, problem: messageOf(error) });
        }
        done++;
        onEvent({ kind: 'progress', stage, done, total: this.count });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    if (problems.length > 0) throw unreadable(name, this.count, problems);
    const seen = new Map<string, number>();
    for (const { id, index } of listed) {
      const before = seen.get(id);
      if (before !== undefined) {
        throw new ConfigError(
          `${name}.taskSet`,
          `The tasks ${before} and ${index} of the suite ${name} have one id, "${id}". Give each its own.`,
        );
      }
      seen.set(id, index);
    }
    return listed;
  }

  /** The task at an index of the suite. */
  async task(index: number): Promise<Task> {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    const { taskSet, split } = this.#suite;
    const task = await taskSet.task(split, index);
    const bytes = sizeOf(task);
    if (this.#keptBytes + bytes <= CACHE_BYTES) {
      this.#keptBytes += bytes;
      this.#kept.set(index, task);
    }
    return task;
  }

  #describe({ id, question, answer, metadata, images, videos = [] }: Task, index: number) {
    const files = [
      ...images.map(({ name, png }) => [name, digestOf(png)] as const),
      ...videos.map(({ name, encoded }) => [name, digestOf(encoded)] as const),
    ];
    return {
      index,
      id,
      question,
      answer,
      // As it is read back: what JSON cannot hold is no fact.
      metadata: JSON.parse(JSON.stringify(metadata)) as Record<string, unknown>,
      slices: slicesOf(this.#suite.slices, metadata),
      files: Object.fromEntries(files),
    };
  }
}

function unreadable(
  suite: string,
  count: number,
  problems: readonly { readonly index: number; readonly problem: string }[],
): DataError {
  const sorted = [...problems].sort((a, b) => a.index - b.index);
  const named = sorted.slice(0, NAMED).map(({ index, problem }) => `task ${index}: ${problem}`);
  return new DataError(
    `${problems.length} of the ${count} tasks of the suite ${suite} cannot be read. ` +
      `${named.join(' ')} Restore what is missing; nothing has been sampled of this suite.`,
  );
}

function sizeOf({ images, videos = [] }: Task): number {
  return [
    ...images.map(({ png }) => png.length),
    ...videos.map(({ encoded }) => encoded.length),
  ].reduce((sum, bytes) => sum + bytes, 0);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
