/** Image folders, as Hugging Face's `imagefolder`: classes as folders, or a metadata file beside. */
import { basename, dirname, join, posix } from 'node:path';
import { DataError } from '@saccade/core';
import { z } from 'zod';
import { ByteFile } from '../files/byte-file.ts';
import type { DataFile } from '../files/data-files.ts';
import { leavesFolder } from '../files/inside.ts';
import { type FileTable, joinTables } from '../files/join-tables.ts';
import { parseObject } from '../files/parse-object.ts';
import { openRecordTable } from '../files/record-table.ts';
import { lines } from '../files/split-lines.ts';
import { isImageName } from '../images/image-format.ts';
import { defineReader } from '../reader.ts';
import { type Fields, openAll, type Row } from '../table.ts';

const METADATA = /^metadata\.(csv|jsonl)$/;
/** Rows that are read together. */
const BLOCK = 64;

const isMetadata = (name: string): boolean => METADATA.test(basename(name));
/** What a folder of images may have besides: a card, and what hubs and tools leave. */
const isAside = (name: string): boolean =>
  /(^|\/)(README\.md|LICENSE[^/]*|[^/]*\.txt)$/i.test(name);

export const imageFolder = defineReader({
  name: 'image-folder',
  description: 'Images in folders that are their labels, or with metadata.csv or metadata.jsonl.',
  settings: z.strictObject({}),
  claims(names) {
    const images = names.filter(isImageName);
    if (images.length === 0) return [];
    if (names.some(isMetadata)) return names.filter(isMetadata);
    // Beside a table images are what its rows name.
    return names.every((name) => isImageName(name) || isAside(name)) ? images : [];
  },
  rank: 3,
  namesFiles: true,
  async open(_, { files, root, maxRowBytes }) {
    const listed = files.filter(({ name }) => isMetadata(name));
    if (listed.length === 0) return joinTables(root, [openLabels(files, maxRowBytes)]);
    const tables = listed.map((file) => () => openMetadata(file, maxRowBytes));
    return joinTables(root, await openAll(tables));
  },
});

/** Every image, with the folder that it is in as its label. */
function openLabels(files: readonly DataFile[], maxRowBytes: number): FileTable {
  const images = files.filter(({ name }) => isImageName(name));
  const folders = new Set(images.map(({ name }) => basename(dirname(name))));
  const hasLabels = folders.size > 1;
  return {
    rowCount: images.length,
    blockRows: BLOCK,
    columns: [
      { name: 'image', type: 'struct' },
      ...(hasLabels ? [{ name: 'label', type: 'string' }] : []),
    ],
    async read(start, end) {
      const rows: Row[] = [];
      for (const { path, name } of images.slice(start, end)) {
        const label = hasLabels ? { label: basename(dirname(name)) } : {};
        rows.push(await withImage(name, path, name, label, maxRowBytes));
      }
      return rows;
    },
    dispose: async () => {},
  };
}

/** The rows of a metadata file, each with the image that it names. */
async function openMetadata({ path, name }: DataFile, maxRowBytes: number): Promise<FileTable> {
  const table = name.endsWith('.csv')
    ? await (await import('./csv-file.ts')).openFile(path, name, maxRowBytes)
    : await openRecordTable(path, name, { splitting: lines, maxRowBytes, parse: parseObject });
  if (!table.columns.some((column) => column.name === 'file_name')) {
    await table.dispose();
    const known = table.columns.map((column) => column.name).join(', ');
    throw new DataError(
      `${path} has no column file_name, which names the image of a row. It has ${known}.`,
    );
  }
  return {
    ...table,
    blockRows: BLOCK,
    columns: [
      { name: 'image', type: 'struct' },
      ...table.columns.filter((column) => column.name !== 'file_name'),
    ],
    async read(start, end) {
      const rows: Row[] = [];
      for (const row of await table.read(start, end)) {
        rows.push(row.fields === undefined ? row : await named(row, path, name, maxRowBytes));
      }
      return rows;
    },
  };
}

async function named(
  { address, fields }: { readonly address: string; readonly fields: Fields },
  metadata: string,
  name: string,
  maxRowBytes: number,
): Promise<Row> {
  const { file_name: file, ...rest } = fields;
  if (typeof file !== 'string') return { address, problem: 'file_name is no text' };
  if (leavesFolder(file)) {
    return { address, problem: `file_name ${JSON.stringify(file)} leaves the folder` };
  }
  const shown = posix.join(posix.dirname(name), file);
  return await withImage(address, join(dirname(metadata), file), shown, rest, maxRowBytes);
}

/** A row with an image as a struct of its bytes and its name, as Parquet files have them. */
async function withImage(
  address: string,
  path: string,
  name: string,
  rest: Fields,
  maxRowBytes: number,
): Promise<Row> {
  let file: ByteFile;
  try {
    file = await ByteFile.open(path);
  } catch {
    return { address, problem: `there is no image ${name}` };
  }
  try {
    if (file.size > maxRowBytes) {
      return { address, problem: `takes ${file.size} bytes; at most ${maxRowBytes} are read` };
    }
    const bytes = await file.read(0, file.size);
    return { address, fields: { image: { bytes, path: name }, ...rest } };
  } finally {
    await file.close();
  }
}
