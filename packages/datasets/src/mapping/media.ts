/** Images and videos of a row as their bytes: values, base64, or files of the data set. */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { DataError } from '@saccade/core';
import { ByteFile } from '../files/byte-file.ts';
import { pathInside } from '../files/inside.ts';
import { type Fields, typeOf } from '../table.ts';
import { type ColumnPath, parsePath, valueAt } from './column-path.ts';
import type { MediumValue } from './mapping-schema.ts';
import { listIn, readTemplate, textsAt } from './texts.ts';

/** Where files are, and how large a file may be. */
export interface MediaContext {
  readonly root: string;
  readonly maxRowBytes: number;
}

/** The encoded media of a row, in their order. */
export interface MediaReader {
  readonly paths: readonly ColumnPath[];
  /** Path of what its bytes hash to. */
  readonly hash: ColumnPath | undefined;
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
  const { value, file, folder = '', optional, sha256 } = given;
  if ((value === undefined) === (file === undefined)) {
    throw new DataError('an image or video has either a value or a file');
  }
  const { paths, read } = file === undefined ? fromValue(value ?? '', folder) : fromTemplate(file);
  const hash = sha256 === undefined ? undefined : parsePath(sha256);
  return {
    paths,
    hash,
    isOptional: optional,
    isFile: file !== undefined,
    async read(fields, context) {
      const media = await read(fields, context);
      if (media.length === 0 && !optional) throw new DataError(`${paths[0]?.text}: there is none`);
      if (hash !== undefined) checkHashes(media, textsAt(fields, hash), hash);
      return media.map(({ bytes }) => bytes);
    },
  };
}

/** Bytes, and in words what they are those of. */
interface Found {
  readonly bytes: Uint8Array;
  readonly title: string;
}

/** Reads what a row has, before it is checked. */
interface Finder {
  readonly paths: readonly ColumnPath[];
  read(fields: Fields, context: MediaContext): Promise<readonly Found[]>;
}

function fromTemplate(file: string): Finder {
  const template = readTemplate(file);
  return {
    paths: template.paths,
    async read(fields, context) {
      const name = template.read(fields);
      return name === undefined ? [] : [await readFile(name, context)];
    },
  };
}

function fromValue(value: string, folder: string): Finder {
  const path = parsePath(value);
  return {
    paths: [path],
    async read(fields, context) {
      const found = listIn(valueAt(fields, path));
      const list = Array.isArray(found) ? found : [found];
      const media: Found[] = [];
      for (const element of list) {
        if (element === null || element === undefined || element === '') continue;
        media.push(await bytesOf(element, path.text, folder, context));
      }
      return media;
    },
  };
}

/** @throws DataError naming both hashes where bytes are others than the row means */
function checkHashes(
  media: readonly Found[],
  wanted: readonly string[],
  { text: path }: ColumnPath,
): void {
  if (media.length !== wanted.length) {
    throw new DataError(`${path}: there are ${wanted.length} hashes of ${media.length} files`);
  }
  media.forEach(({ bytes, title }, i) => {
    const hash = wanted[i] ?? '';
    if (!/^[0-9a-f]{64}$/i.test(hash)) {
      throw new DataError(
        `${path}: expected a SHA-256 of 64 hexadecimal digits, got ${JSON.stringify(hash)}`,
      );
    }
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found === hash.toLowerCase()) return;
    throw new DataError(
      `${title} has the SHA-256 ${found}, and ${path} of its row says ${hash.toLowerCase()}: these ` +
        'are not the bytes that were annotated. Download it again, or leave the row out',
    );
  });
}

async function bytesOf(
  value: unknown,
  path: string,
  folder: string,
  context: MediaContext,
): Promise<Found> {
  if (value instanceof Uint8Array) return { bytes: value, title: path };
  if (typeof value === 'string') return await fromText(value, folder, context);
  if (typeOf(value) === 'struct') {
    // As Hugging Face stores images: bytes, or the path of a file.
    const { bytes, path: name, image } = value as Fields;
    if (bytes instanceof Uint8Array) return { bytes, title: path };
    const inner = image ?? bytes ?? name;
    if (inner instanceof Uint8Array) return { bytes: inner, title: path };
    if (typeof inner === 'string') return await fromText(inner, folder, context);
  }
  throw new DataError(
    `${path}: expected an image (bytes, base64, or a file), got ${typeOf(value)}`,
  );
}

/** Text longer than any name of a file. */
const LONGEST_NAME = 1024;

async function fromText(text: string, folder: string, context: MediaContext): Promise<Found> {
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

function base64(text: string): Found {
  if (/^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(text)) {
    return { bytes: Buffer.from(text, 'base64'), title: 'an image in base64' };
  }
  throw new DataError('a text of an image is neither base64 nor the name of a file');
}

/** Extensions of files that are named without one. */
const EXTENSIONS = ['.png', '.jpg', '.jpeg', '.webp', '.gif'];

async function readFile(name: string, { root, maxRowBytes }: MediaContext): Promise<Found> {
  const path = pathInside(root, name);
  if (path === undefined) {
    throw new DataError(`the file ${JSON.stringify(name)} leaves the data set's folder`);
  }
  const isWhole = extname(name) !== '';
  const file = await firstOf(isWhole ? [path] : [path, ...EXTENSIONS.map((one) => path + one)]);
  if (file === undefined) {
    const others = isWhole
      ? ''
      : `, nor one with ${EXTENSIONS.join(', ')} behind. Download it into the data set's folder`;
    throw new DataError(`there is no file ${JSON.stringify(name)}${others}`);
  }
  try {
    if (file.size <= maxRowBytes) return { bytes: await file.read(0, file.size), title: name };
    throw new DataError(`${name} has ${file.size} bytes; at most ${maxRowBytes} are read`);
  } finally {
    await file.close();
  }
}

/** The first file that there is. */
async function firstOf(paths: readonly string[]): Promise<ByteFile | undefined> {
  for (const path of paths) {
    try {
      return await ByteFile.open(path);
    } catch {
      // The next may be there.
    }
  }
  return undefined;
}
