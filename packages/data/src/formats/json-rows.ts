/** Rows of JSON Lines, or of one JSON array. */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { DataError, messageOf } from '@saccade/core';
import { type DialogRow, type DialogSample, RowRefused, rowOf } from './format.ts';

/** A row as it stands in the file. */
export type JsonRow = Readonly<Record<string, unknown>>;

/** Reads the rows of a file, whether it is JSON Lines or an array; each is read by `read`. */
export async function* readJsonRows(
  path: string,
  read: (row: JsonRow, id: string) => DialogSample | Promise<DialogSample>,
): AsyncGenerator<DialogRow> {
  let number = 0;
  for await (const text of await rowTexts(path)) {
    if (typeof text === 'string' && text.trim() === '') continue;
    number++;
    yield await rowOf(`${path}:${number}`, () => read(objectIn(text), `row-${number}`));
  }
}

async function rowTexts(path: string): Promise<AsyncIterable<unknown> | Iterable<unknown>> {
  if (!(await isArray(path))) {
    const input = createReadStream(path, 'utf8');
    return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  }
  try {
    const read: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (Array.isArray(read)) return read;
  } catch (cause) {
    throw new DataError(`${path} is no JSON array: ${messageOf(cause)}. Write it again.`, {
      cause,
    });
  }
  throw new DataError(`${path} holds no list of rows. Give JSON Lines or an array of objects.`);
}

/** Whether the first character that says anything opens an array. */
async function isArray(path: string): Promise<boolean> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const start = Buffer.alloc(64);
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    return start.subarray(0, bytesRead).toString().trimStart().startsWith('[');
  } catch (cause) {
    throw new DataError(`${path} cannot be read: ${messageOf(cause)}. Check the path.`, { cause });
  } finally {
    await file?.close();
  }
}

function objectIn(text: unknown): JsonRow {
  let read = text;
  try {
    if (typeof text === 'string') read = JSON.parse(text);
  } catch (error) {
    throw new RowRefused(`it is not JSON: ${messageOf(error)}`);
  }
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as JsonRow;
  throw new RowRefused('it is no JSON object');
}

/** A file of rows that is being written: lines, or one array. */
export async function openJsonRows(path: string, isLines: boolean) {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'w');
  let count = 0;
  if (!isLines) await file.appendFile('[');
  return {
    async write(row: object): Promise<void> {
      const before = isLines ? '' : count === 0 ? '\n' : ',\n';
      await file.appendFile(`${before}${JSON.stringify(row)}${isLines ? '\n' : ''}`);
      count++;
    },
    async close(): Promise<void> {
      if (!isLines) await file.appendFile('\n]\n');
      await file.close();
    },
  };
}

/** The scalar fields of a row beside those that the format knows. */
export function tagsIn(
  row: JsonRow,
  known: readonly string[],
): { readonly tags?: Readonly<Record<string, string | number | boolean>> } {
  const tags: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(row)) {
    if (known.includes(name)) continue;
    if (['string', 'number', 'boolean'].includes(typeof value)) tags[name] = value as string;
  }
  return Object.keys(tags).length === 0 ? {} : { tags };
}

/** A field that has to be text. @throws RowRefused if it is none */
export function textIn(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new RowRefused(`${what} must be text, is ${value === null ? 'null' : typeof value}`);
}

/** A field that has to be a list. @throws RowRefused if it is none */
export function listIn(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new RowRefused(`${what} must be a list, is ${value === null ? 'null' : typeof value}`);
}

/** Tools, as a list or as the JSON of one. @throws RowRefused if they are neither */
export function toolsIn(value: unknown): { readonly tools?: readonly JsonRow[] } {
  if (value === undefined || value === null || value === '') return {};
  let read = value;
  try {
    if (typeof value === 'string') read = JSON.parse(value);
  } catch {
    throw new RowRefused('tools must be a list, or the JSON of one');
  }
  const tools = listIn(read, 'tools') as readonly JsonRow[];
  return tools.length === 0 ? {} : { tools };
}
