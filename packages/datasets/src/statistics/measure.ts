/** Statistics of a source: how long texts are, how large images, which answers come how often. */
import { type EventSink, randomAt } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import type { DataSource } from '../sources/data-source.ts';

/** What is measured. */
export interface MeasureOptions {
  /** Rows of each split that are read; larger splits are sampled evenly. */
  readonly most: number;
  /** Tasks that are shown. */
  readonly examples: number;
  readonly onEvent?: EventSink;
}

/** Numbers of one quantity. */
export interface Spread {
  readonly least: number;
  readonly median: number;
  readonly p95: number;
  readonly largest: number;
}

/** Statistics of one split. */
export interface SplitStatistics {
  readonly split: Split;
  readonly rows: number;
  readonly read: number;
  readonly corrupt: number;
  readonly imagesPerRow: Spread;
  readonly megapixels: Spread;
  readonly questionWords: Spread;
  readonly answerCharacters: Spread;
  /** The most frequent answers with their counts, and how many there are. */
  readonly answers: readonly { readonly text: string; readonly count: number }[];
  readonly distinctAnswers: number;
  /** Rows by the file names of their addresses. */
  readonly examples: readonly Example[];
}

/** One task of the page, its first image shrunk. */
export interface Example {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly images: number;
  readonly size?: string;
  /** WebP, at most 320 pixels on a side. */
  readonly thumbnail?: Uint8Array;
}

/** Statistics of a source. */
export interface DataStatistics {
  readonly name: string;
  readonly from: string;
  readonly format: string;
  readonly mapping: string;
  readonly title?: string;
  readonly license: string;
  readonly sizeBytes: number;
  readonly files: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly splits: readonly SplitStatistics[];
  readonly problems: readonly { readonly address: string; readonly problem: string }[];
}

const [THUMBNAIL, SHOWN_ANSWERS, SHOWN_PROBLEMS] = [320, 12, 20];

/** Measures a source. Its corrupt rows are counted, and too many of them are an error as in training. */
export async function measure(
  source: DataSource,
  options: MeasureOptions,
): Promise<DataStatistics> {
  const { settings, tables, mapping, name } = source;
  const splits: SplitStatistics[] = [];
  for (const split of ['train', 'heldOut'] as const) {
    if (source.size(split) > 0) splits.push(await measureSplit(source, split, options));
  }
  const table = tables.train ?? tables.heldOut;
  return {
    name,
    from: settings.from,
    format: tables.format,
    mapping: mapping.name,
    ...(tables.card?.title && { title: tables.card.title }),
    license: tables.card?.license ?? 'not stated',
    sizeBytes: tables.sizeBytes,
    files: tables.files.length,
    columns: table?.columns ?? [],
    splits,
    problems: [...source.corrupt.problems]
      .slice(0, SHOWN_PROBLEMS)
      .map(([address, problem]) => ({ address, problem })),
  };
}

async function measureSplit(
  source: DataSource,
  split: Split,
  { most, examples, onEvent }: MeasureOptions,
): Promise<SplitStatistics> {
  const rows = source.size(split);
  const read = Math.min(rows, most);
  const shown = new Set(
    randomAt(0, 'examples', split)
      .shuffle(Array.from({ length: read }, (_, i) => i))
      .slice(0, examples),
  );
  const numbers = { images: [], pixels: [], words: [], characters: [] } as {
    readonly [key in 'images' | 'pixels' | 'words' | 'characters']: number[];
  };
  const answers = new Map<string, number>();
  const found: Example[] = [];
  let corrupt = 0;
  for (let i = 0; i < read; i++) {
    const task = await source.mapped(split, Math.floor((i * rows) / read));
    onEvent?.({ kind: 'progress', stage: `measure ${split}`, done: i + 1, total: read });
    if (typeof task === 'string') {
      corrupt++;
      continue;
    }
    numbers.images.push(task.images.length);
    for (const { width, height } of task.images) numbers.pixels.push((width * height) / 1e6);
    numbers.words.push(task.question.split(/\s+/).length);
    numbers.characters.push(task.answer.length);
    answers.set(task.answer, (answers.get(task.answer) ?? 0) + 1);
    if (shown.has(i)) found.push(await exampleOf(task));
  }
  const frequent = [...answers].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return {
    split,
    rows,
    read,
    corrupt,
    imagesPerRow: spreadOf(numbers.images),
    megapixels: spreadOf(numbers.pixels),
    questionWords: spreadOf(numbers.words),
    answerCharacters: spreadOf(numbers.characters),
    answers: frequent.slice(0, SHOWN_ANSWERS).map(([text, count]) => ({ text, count })),
    distinctAnswers: answers.size,
    examples: found,
  };
}

async function exampleOf({ id, question, answer, images }: Task): Promise<Example> {
  const { default: sharp } = await import('sharp');
  const [first] = images;
  if (first === undefined) return { id, question, answer, images: 0 };
  const thumbnail = await sharp(first.png)
    .resize(THUMBNAIL, THUMBNAIL, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 80 })
    .toBuffer();
  const size = `${first.width} × ${first.height}`;
  return { id, question, answer, images: images.length, size, thumbnail };
}

/** Quantiles by the nearest rank. */
function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { least: at(0), median: at(0.5), p95: at(0.95), largest: at(1) };
}
