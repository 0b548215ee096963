/** One Parquet file as a table, decoded row group by row group. */
import { DataError, messageOf } from '@saccade/core';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ByteFile } from '../files/byte-file.ts';
import type { FileTable } from '../files/join-tables.ts';
import type { Column, Fields, Row } from '../table.ts';

/** Row groups up to this size are decoded once and kept while their rows are read. */
const KEPT_BYTES = 2 ** 28;
/** Most rows of a block: of larger row groups only a part is decoded. */
const MOST_ROWS = 8192;

/** Rows of one row group that are decoded: where they begin, and each or what is wrong with it. */
interface Decoded {
  readonly start: number;
  readonly rows: readonly Row[];
}

/** Opens one file. @throws DataError if it is no whole Parquet file */
export async function openFile(
  path: string,
  name: string,
  maxRowBytes: number,
): Promise<FileTable> {
  const file = await ByteFile.open(path);
  try {
    const buffer = asyncBuffer(file);
    const metadata = await metadataOf(path, buffer);
    const groups = groupsOf(metadata);
    const limited = limitedCompressors(Math.max(maxRowBytes, KEPT_BYTES));
    const decode = async (start: number, end: number): Promise<readonly Fields[]> => {
      const rows = await parquetReadObjects({
        file: buffer,
        metadata,
        compressors: limited,
        rowStart: start,
        rowEnd: end,
        // Bytes without a type of their own are images and videos, not text.
        utf8: false,
        useOffsetIndex: true,
      });
      if (rows.length === end - start) return rows.map(plainFields);
      throw new DataError(`${end - start} rows were expected and ${rows.length} were decoded`);
    };
    let kept: Decoded | undefined;
    const block = async (group: Group, start: number, end: number): Promise<Decoded> => {
      const isKept = kept !== undefined && kept.start <= start;
      if (isKept && kept !== undefined && kept.start + kept.rows.length >= end) return kept;
      const isSmall = group.sizeBytes <= KEPT_BYTES && group.end - group.start <= MOST_ROWS;
      const [from, to] = isSmall ? [group.start, group.end] : [start, end];
      kept = { start: from, rows: await rowsOf(decode, name, from, to) };
      return kept;
    };
    return {
      rowCount: groups.at(-1)?.end ?? 0,
      blockRows: Math.min(MOST_ROWS, groups[0] === undefined ? 1 : groups[0].end),
      columns: columnsOf(metadata),
      async read(start, end) {
        const rows: Row[] = [];
        for (const group of groups) {
          const [from, to] = [Math.max(start, group.start), Math.min(end, group.end)];
          if (from >= to) continue;
          const decoded = await block(group, from, to);
          rows.push(...decoded.rows.slice(from - decoded.start, to - decoded.start));
        }
        return rows;
      },
      dispose: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Decodes rows; where that fails, halves the range until single rows are left, so that a page that
 * is damaged costs its own rows and no others.
 */
async function rowsOf(
  decode: (start: number, end: number) => Promise<readonly Fields[]>,
  name: string,
  start: number,
  end: number,
): Promise<readonly Row[]> {
  try {
    const rows = await decode(start, end);
    return rows.map((fields, i) => ({ address: `${name}#${start + i}`, fields }));
  } catch (error) {
    if (end - start <= 1) {
      return [{ address: `${name}#${start}`, problem: `cannot be decoded: ${messageOf(error)}` }];
    }
    const middle = Math.floor((start + end) / 2);
    const before = await rowsOf(decode, name, start, middle);
    // Pages after a damaged one cannot be found: what the last row before it says holds for them.
    const isLost = before.every(({ problem }) => problem !== undefined);
    if (isLost && !(await isReadable(decode, end - 1))) {
      const problem = before[0]?.problem ?? messageOf(error);
      const rest = Array.from({ length: end - middle }, (_, i) => ({
        address: `${name}#${middle + i}`,
        problem,
      }));
      return [...before, ...rest];
    }
    return [...before, ...(await rowsOf(decode, name, middle, end))];
  }
}

async function isReadable(
  decode: (start: number, end: number) => Promise<readonly Fields[]>,
  row: number,
): Promise<boolean> {
  return await decode(row, row + 1).then(
    () => true,
    () => false,
  );
}

function asyncBuffer(file: ByteFile): AsyncBuffer {
  return {
    byteLength: file.size,
    async slice(start, end = file.size) {
      // A damaged file names places that it does not have.
      if (!(start >= 0 && end >= start && end <= file.size)) {
        throw new DataError(`bytes ${start} to ${end} of ${file.size} are asked for`);
      }
      return (await file.read(start, end)).buffer as ArrayBuffer;
    },
  };
}

async function metadataOf(path: string, buffer: AsyncBuffer): Promise<FileMetaData> {
  try {
    const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
    parquetSchema(metadata);
    return metadata;
  } catch (error) {
    throw new DataError(
      `${path} is no whole Parquet file: ${messageOf(error)}. Download or write it again.`,
      { cause: error },
    );
  }
}

/** The rows of a row group, and its size when it is decoded. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly sizeBytes: number;
}

function groupsOf({ row_groups }: FileMetaData): readonly Group[] {
  let start = 0;
  return row_groups.map(({ num_rows, total_byte_size }) => {
    const count = Number(num_rows);
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new DataError(`A row group of ${num_rows} rows is damaged. Download the file again.`);
    }
    const group = { start, end: start + count, sizeBytes: Number(total_byte_size) };
    start = group.end;
    return group;
  });
}

/** Refuses a page that says it is larger than any may be, before memory is taken for it. */
function limitedCompressors(maxBytes: number): Compressors {
  return Object.fromEntries(
    Object.entries(compressors).map(([codec, decompress]) => [
      codec,
      (input: Uint8Array, outputLength: number) => {
        if (outputLength >= 0 && outputLength <= maxBytes) return decompress(input, outputLength);
        throw new DataError(`a page says it has ${outputLength} bytes; ${maxBytes} are the limit`);
      },
    ]),
  );
}

function columnsOf(metadata: FileMetaData): readonly Column[] {
  return parquetSchema(metadata).children.map(({ element, children }) => {
    const { name, type = '', converted_type, logical_type } = element;
    const isText = converted_type === 'UTF8' || logical_type?.type === 'STRING';
    if (children.length > 0) {
      const isList = converted_type === 'LIST' || logical_type?.type === 'LIST';
      return { name, type: isList ? 'list' : 'struct' };
    }
    if (type === 'BYTE_ARRAY') return { name, type: isText ? 'string' : 'bytes' };
    return { name, type: type === 'BOOLEAN' ? 'boolean' : 'number' };
  });
}

const plainFields = (row: Record<string, unknown>): Fields =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]));

/** Whole numbers that JavaScript has as such; the rest as it is. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (value === undefined) return null;
  if (value === null || typeof value !== 'object') return value;
  if (ArrayBuffer.isView(value)) {
    if (value instanceof Uint8Array) return value;
    return Array.from(value as unknown as ArrayLike<unknown>, plainValue);
  }
  if (value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(plainValue);
  return plainFields(value as Record<string, unknown>);
}
