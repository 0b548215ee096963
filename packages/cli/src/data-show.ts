/** `saccade data show`: what a data set is, and its first rows as tasks. */
import { type Column, DataSource } from '@saccade/datasets';
import type { Task } from '@saccade/gym';
import { sourceContext, sourceOf } from './data-source.ts';
import { printJson } from './json.ts';
import { formatTable } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface DataShowFlags {
  readonly set?: readonly string[];
  readonly count: number;
  readonly json?: boolean;
}

/** Characters of a question or an answer on one line. */
const LINE = 100;

export async function showData(from: string, { set, count, json }: DataShowFlags): Promise<void> {
  const onEvent = terminalProgress({ stream: process.stderr });
  const source = await DataSource.open(sourceOf(from, set), sourceContext(onEvent));
  try {
    const { tables, mapping, name } = source;
    const columns = (tables.train ?? tables.heldOut)?.columns ?? [];
    const split = tables.train === undefined ? 'heldOut' : 'train';
    const tasks: (Task | string)[] = [];
    for (let number = 0; number < Math.min(count, source.size(split)); number++) {
      tasks.push(await source.mapped(split, number));
    }
    const facts = {
      name,
      format: tables.format,
      mapping: mapping.name,
      title: tables.card?.title,
      license: tables.card?.license ?? 'not stated',
      files: tables.files.length,
      sizeBytes: tables.sizeBytes,
      trainRows: source.size('train'),
      heldOutRows: source.size('heldOut'),
    };
    if (json) return printJson({ ...facts, columns, tasks: tasks.map(plain) });
    for (const line of describe(facts, columns, tasks)) console.log(line);
  } finally {
    await source.dispose();
  }
}

function describe(
  facts: Readonly<Record<string, unknown>>,
  columns: readonly Column[],
  tasks: readonly (Task | string)[],
): readonly string[] {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  const lines = [
    ...formatTable(known.map(([key, value]) => [key, String(value)])),
    '',
    ...formatTable([['column', 'type'], ...columns.map(({ name, type }) => [name, type])]),
  ];
  for (const task of tasks) {
    lines.push('');
    if (typeof task === 'string') {
      lines.push(`corrupt: ${task}`);
      continue;
    }
    const images = task.images.map(({ width, height }) => `${width}×${height}`).join(', ');
    lines.push(
      `${task.id}  ${images === '' ? 'no image' : images}`,
      ...task.question.split('\n').map((line) => `  ${short(line)}`),
      `  → ${short(task.answer)}`,
    );
  }
  return lines;
}

const short = (text: string): string => (text.length > LINE ? `${text.slice(0, LINE - 1)}…` : text);

function plain(task: Task | string): object {
  if (typeof task === 'string') return { problem: task };
  const { images, videos = [], ...rest } = task;
  return {
    ...rest,
    images: images.map(({ name, width, height }) => ({ name, width, height })),
    videos: videos.map(({ encoded: _, ...facts }) => facts),
  };
}
