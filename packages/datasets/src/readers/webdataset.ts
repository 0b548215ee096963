/** WebDataset: tar files in which members with the same name up to its first dot are one row. */
import { DataError, messageOf } from '@saccade/core';
import { z } from 'zod';
import { ByteFile } from '../files/byte-file.ts';
import { leavesFolder } from '../files/inside.ts';
import { type FileTable, joinTables } from '../files/join-tables.ts';
import { StrideIndex } from '../files/stride-index.ts';
import { expectTar, type TarDamage, type TarMember, tarMembers } from '../files/tar-headers.ts';
import { defineReader } from '../reader.ts';
import { columnsOfRows, type Fields, openAll, type Row } from '../table.ts';

/** Rows that are looked at to learn the columns, and rows that are read together. */
const [SAMPLED, BLOCK] = [16, 64];

export const webdataset = defineReader({
  name: 'webdataset',
  description: 'Tar files of samples: key.jpg, key.json, key.cls, …; read without unpacking.',
  settings: z.strictObject({}),
  claims: (names) => names.filter((name) => /\.(tar|tar\.gz|tgz)$/i.test(name)),
  rank: 2,
  namesFiles: false,
  async open(_, { files, root, maxRowBytes }) {
    const tables = files.map(({ path, name }) => () => openFile(path, name, maxRowBytes));
    return joinTables(root, await openAll(tables));
  },
});

/** The members of one row, or a place without them. */
interface Sample {
  readonly key: string;
  readonly place: number;
  readonly members: readonly TarMember[];
  readonly problem?: string;
}

async function openFile(path: string, name: string, maxRowBytes: number): Promise<FileTable> {
  const file = await ByteFile.open(path);
  try {
    await expectTar(file);
    const index = new StrideIndex();
    for await (const { place, members } of samplesOf(file, 0)) {
      for (const member of members) refuseEscape(path, member);
      index.add(place);
    }
    const read = async (start: number, end: number): Promise<readonly Row[]> => {
      const rows: Row[] = [];
      const { record, place } = index.before(start);
      let number = record;
      if (start >= Math.min(end, index.count)) return rows;
      for await (const sample of samplesOf(file, place)) {
        if (number >= start) rows.push(await rowOf(file, `${name}#${number}`, sample, maxRowBytes));
        number++;
        if (number >= end) break;
      }
      return rows;
    };
    const columns = columnsOfRows(await read(0, SAMPLED));
    const dispose = () => file.close();
    return { rowCount: index.count, blockRows: BLOCK, columns, read, dispose };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** @throws DataError for a name that unpacking would put outside */
function refuseEscape(path: string, { name }: TarMember): void {
  if (!leavesFolder(name)) return;
  throw new DataError(
    `${path} has a member ${JSON.stringify(name)}, which leaves the folder that it is unpacked in. ` +
      'The archive is not to be trusted; get it from elsewhere.',
  );
}

/** Up to the first dot of the last part, as the Python library divides names. */
const KEY = /^((?:.*\/)?[^./]+)\.([^/]*)$/s;

async function* samplesOf(file: ByteFile, start: number): AsyncGenerator<Sample> {
  let key: string | undefined;
  let place = start;
  let members: TarMember[] = [];
  const finished = function* (): Generator<Sample> {
    if (key !== undefined) yield { key, place, members };
    key = undefined;
    members = [];
  };
  for await (const found of tarMembers(file, start)) {
    if (isDamage(found)) {
      yield* finished();
      yield { key: '', place: found.place, members: [], problem: found.problem };
      continue;
    }
    const own = found.kind === 'folder' ? undefined : KEY.exec(found.name)?.[1];
    // Files of tools that pack folders, such as ._name, belong to no sample.
    if (own === undefined && !leavesFolder(found.name)) continue;
    if ((own ?? found.name) !== key) {
      yield* finished();
      key = own ?? found.name;
      place = found.place;
    }
    members.push(found);
  }
  yield* finished();
}

const isDamage = (found: TarMember | TarDamage): found is TarDamage => 'problem' in found;

async function rowOf(
  file: ByteFile,
  address: string,
  { key, members, problem }: Sample,
  maxRowBytes: number,
): Promise<Row> {
  if (problem !== undefined) return { address, problem };
  const bytes = members.reduce((sum, { size }) => sum + size, 0);
  if (bytes > maxRowBytes) {
    return { address, problem: `takes ${bytes} bytes; at most ${maxRowBytes} are read` };
  }
  const fields: Record<string, unknown> = { __key__: key };
  for (const { name, kind, start, size } of members) {
    const extension = (KEY.exec(name)?.[2] ?? '').toLowerCase();
    if (kind !== 'file') return { address, problem: `${name} is a link or a device, not a file` };
    if (start + size > file.size) return { address, problem: `${name} is not whole` };
    if (extension in fields) return { address, problem: `${name} is there twice` };
    try {
      fields[extension] = decoded(extension, await file.read(start, start + size));
    } catch (error) {
      return { address, problem: `${name}: ${messageOf(error)}` };
    }
  }
  return { address, fields: fields as Fields };
}

/** A member's value by its extension, as the Python library decodes it; others are bytes. */
function decoded(extension: string, bytes: Buffer): unknown {
  switch (extension.split('.').at(-1)) {
    case 'json':
      return JSON.parse(bytes.toString('utf8'));
    case 'txt':
    case 'text':
    case 'transcript':
      return bytes.toString('utf8');
    case 'cls':
    case 'cls2':
    case 'class':
    case 'count':
    case 'index':
    case 'inx':
    case 'id':
      return wholeNumber(bytes.toString('utf8'));
    default:
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && text.trim() !== '') return value;
  throw new DataError(`expected a whole number, got ${JSON.stringify(text.slice(0, 40))}`);
}
