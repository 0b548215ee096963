/** Formats of conversations on disk: what a sample is, and how rows that do not fit are told. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { Message } from '@saccade/trajectory';

/** JSON of a tool as OpenAI's API describes it. */
export type ToolSchema = Readonly<Record<string, unknown>>;

/** One conversation, in OpenAI's words; its images are PNG bytes in the parts of its messages. */
export interface DialogSample {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSchema[];
  /** Facts about it, such as `taskId`, `question`, `answer`, `reward`. */
  readonly tags?: Readonly<Record<string, string | number | boolean>>;
}

/** A row that cannot be expressed, by its place and in words. */
export interface RefusedRow {
  /** Path and number of the row, from 1. */
  readonly row: string;
  readonly reason: string;
}

/** A row of a file: a sample, or why it is none. */
export type DialogRow =
  | { readonly kind: 'sample'; readonly sample: DialogSample; readonly row: string }
  | ({ readonly kind: 'refused' } & RefusedRow);

/** What became of the rows that were written. */
export interface WrittenRows {
  readonly written: number;
  readonly refused: readonly RefusedRow[];
}

/** One format of files: it reads rows one after another, and writes samples. */
export interface DialogFormat<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** How its files end, with the dot. */
  readonly extensions: readonly string[];
  /**
   * Rows of a file, in order. A row that cannot be read is refused and named; the others follow.
   *
   * @throws DataError if the file as a whole is not of this format
   */
  read(path: string, settings: SettingsOf<Schema>): AsyncIterable<DialogRow>;
  /** Writes a file, its images beside it where the format wants files. */
  write(
    path: string,
    samples: AsyncIterable<DialogSample> | Iterable<DialogSample>,
    settings: SettingsOf<Schema>,
  ): Promise<WrittenRows>;
}

/** Defines your own format. */
export function defineFormat<const Name extends string, Schema extends SettingsSchema>(
  unit: DialogFormat<Schema> & { readonly name: Name },
): DialogFormat<Schema> & { readonly name: Name } {
  return unit;
}

/** Why one row is refused; never seen outside of this folder. */
export class RowRefused extends Error {}

/** Reads one row; what cannot be expressed is refused, and other errors too, in their words. */
export async function rowOf(
  row: string,
  read: () => DialogSample | Promise<DialogSample>,
): Promise<DialogRow> {
  try {
    return { kind: 'sample', sample: await read(), row };
  } catch (error) {
    return { kind: 'refused', row, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Writes samples one by one; those that cannot be expressed are refused and named. */
export async function writeRows(
  path: string,
  samples: AsyncIterable<DialogSample> | Iterable<DialogSample>,
  write: (sample: DialogSample) => Promise<void>,
): Promise<WrittenRows> {
  const refused: RefusedRow[] = [];
  let written = 0;
  for await (const sample of samples) {
    try {
      await write(sample);
      written++;
    } catch (error) {
      if (!(error instanceof RowRefused)) throw error;
      refused.push({ row: `${path}: ${sample.id}`, reason: error.message });
    }
  }
  return { written, refused };
}
