/** Images and videos of a row as their bytes: values, base64, or files of the data set. */
import { DataError } from '@saccade/core';
import { ByteFile } from '../files/byte-file.ts';
import { pathInside } from '../files/inside.ts';
import { type Fields, typeOf } from '../table.ts';
import { type ColumnPath, parsePath, valueAt } from './column-path.ts';
import type { MediumValue } from './mapping-schema.ts';
import { readTemplate } from './texts.ts';

/** Where files are, and how large a file may be. */
export interface MediaContext {
  readonly root: string;
  readonly maxRowBytes: number;
}

/** The encoded media of a row, in their order. */
export interface MediaReader {
  readonly paths: readonly ColumnPath[];
  /** Whether a row may have none. */
  readonly isOptional: boolean;
  /** Whether the paths are parts of a file's name. */
  readonly isFile: boolean;
  /** @throws DataError naming the path and what came */
  read(fields: Fields, context: MediaContext): Promise<readonly Uint8Array[]>;
}

/** Reads the media of one declaration. */
export function readMedia(given: MediumValue): MediaReader {
  if (typeof given === 'string') return readMedia({ value: given, optional: false });
  const { value, file, folder = '', optional } = given;
  if ((value === undefined) === (file === undefined)) {
    throw new DataError('an image or video has either a value or a file');
  }
  if (file !== undefined) {
    const template = readTemplate(file);
    return {
      paths: template.paths,
      isOptional: optional,
      isFile: true,
      read: async (fields, context) => [await readFile(template.read(fields) ?? '', context)],
    };
  }
  const path = parsePath(value ?? '');
  return {
    paths: [path],
    isOptional: optional,
    isFile: false,
    async read(fields, context) {
      const found = listIn(valueAt(fields, path));
      const list = Array.isArray(found) ? found : [found];
      const media: Uint8Array[] = [];
      for (const element of list) {
        if (element === null || element === undefined || element === '') continue;
        media.push(await bytesOf(element, path.text, folder, context));
      }
      if (media.length === 0 && !optional) throw new DataError(`${path.text}: there is none`);
      return media;
    },
  };
}

/** A list that is stored as its JSON, as in a cell of a CSV file. */
function listIn(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('["')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

async function bytesOf(
  value: unknown,
  path: string,
  folder: string,
  context: MediaContext,
): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return await fromText(value, folder, context);
  if (typeOf(value) === 'struct') {
    // As Hugging Face stores images: bytes, or the path of a file.
    const { bytes, path: name, image } = value as Fields;
    if (bytes instanceof Uint8Array) return bytes;
    const inner = image ?? bytes ?? name;
    if (inner instanceof Uint8Array) return inner;
    if (typeof inner === 'string') return await fromText(inner, folder, context);
  }
  throw new DataError(`${path}: expected an image (bytes, base64, or a file), got ${typeOf(value)}`);
}

/** Text longer than any name of a file. */
const LONGEST_NAME = 1024;

async function fromText(text: string, folder: string, context: MediaContext): Promise<Uint8Array> {
  const data = /^data:[^,;]*;base64,/.exec(text.slice(0, 200));
  if (data !== null) return base64(text.slice(data[0].length));
  if (/^https?:\/\//.test(text)) {
    throw new DataError(
      `${JSON.stringify(text.slice(0, 80))} is an address; images are read from files alone. ` +
        'Download it, and name the file.',
    );
  }
  if (text.length > LONGEST_NAME) return base64(text);
  const name = folder === '' ? text : `${folder.replace(/\/$/, '')}/${text}`;
  return await readFile(name, context);
}

function base64(text: string): Uint8Array {
  if (/^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(text)) return Buffer.from(text, 'base64');
  throw new DataError('a text of an image is neither base64 nor the name of a file');
}

async function readFile(name: string, { root, maxRowBytes }: MediaContext): Promise<Uint8Array> {
  const path = pathInside(root, name);
  if (path === undefined) {
    throw new DataError(`the file ${JSON.stringify(name)} leaves the data set's folder`);
  }
  let file: ByteFile;
  try {
    file = await ByteFile.open(path);
  } catch {
    throw new DataError(`there is no file ${JSON.stringify(name)}`);
  }
  try {
    if (file.size <= maxRowBytes) return await file.read(0, file.size);
    throw new DataError(`${name} has ${file.size} bytes; at most ${maxRowBytes} are read`);
  } finally {
    await file.close();
  }
}
