/** Exports tasks of any task set as a data set of files, with its card. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, DataError, type EventSink } from '@saccade/core';
import type { Split, Task, TaskSet } from '@saccade/gym';
import type { Writer, WrittenFiles } from '../writer.ts';
import { formatCard } from './format-card.ts';

/** Which tasks are exported, and where to. */
export interface ExportOptions {
  /** An empty folder, or one that is made. */
  readonly directory: string;
  readonly writer: Writer;
  /** Tasks of each split, at most; a task set without an end needs it. */
  readonly counts: Readonly<Partial<Record<Split, number>>>;
  readonly maxShardBytes?: number;
  /** Name of the data set in its card. */
  readonly title: string;
  /** License in the card, as Hugging Face writes it; default: those of the sources. */
  readonly license?: string;
  readonly onEvent?: EventSink;
}

/** The files that were written, by split as files name it. */
export interface ExportResult {
  readonly splits: Readonly<Record<string, WrittenFiles>>;
}

/** 500 MB, as `datasets` divides what it uploads. */
const SHARD_BYTES = 500e6;
const SPLIT_NAMES: Readonly<Record<Split, string>> = { train: 'train', heldOut: 'validation' };

/**
 * Writes tasks and a card that the viewer of Hugging Face opens. The same tasks give the same files.
 *
 * @throws ConfigError for a folder that is not empty, or a split without an end and a count
 */
export async function exportTasks(taskSet: TaskSet, options: ExportOptions): Promise<ExportResult> {
  const { directory, writer, counts, onEvent } = options;
  if (existsSync(directory) && (await readdir(directory)).length > 0) {
    throw new ConfigError(
      'directory',
      `directory: ${directory} is not empty. Give an empty folder, or one that is not there yet.`,
    );
  }
  await mkdir(directory, { recursive: true });
  const splits: Record<string, WrittenFiles> = {};
  for (const split of ['train', 'heldOut'] as const) {
    const count = countOf(taskSet, split, counts[split]);
    if (count === 0) continue;
    const name = SPLIT_NAMES[split];
    const tasks = async function* (): AsyncGenerator<Task> {
      for (let index = 0; index < count; index++) {
        yield await taskSet.task(split, index);
        onEvent?.({ kind: 'progress', stage: `export ${name}`, done: index + 1, total: count });
      }
    };
    const maxShardBytes = options.maxShardBytes ?? SHARD_BYTES;
    splits[name] = await writer.write(tasks(), { directory, split: name, maxShardBytes });
  }
  if (Object.keys(splits).length === 0) {
    throw new DataError(`The task set ${taskSet.name} has no tasks to export.`);
  }
  const card = await formatCard({ ...options, facts: taskSet.facts?.() ?? [], splits });
  await writeFile(join(directory, 'README.md'), card);
  return { splits };
}

function countOf(taskSet: TaskSet, split: Split, wanted: number | undefined): number {
  const size = taskSet.size(split);
  const count = Math.min(size, wanted ?? size);
  if (Number.isFinite(count)) return count;
  throw new ConfigError(
    'count',
    `count: ${split} of ${taskSet.name} has no end. Say how many tasks to export.`,
  );
}
