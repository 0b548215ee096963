/** A table of a text file of records: what JSON Lines, JSON and CSV share. */
import { messageOf } from '@saccade/core';
import { columnsOfRows, type Fields, type Row } from '../table.ts';
import type { FileTable } from './join-tables.ts';
import { RecordFile, type Splitting } from './record-file.ts';

/** Rows that are looked at to learn the columns. */
const SAMPLED = 32;
/** Rows that are read together: their records are found by scanning from the last noted place. */
const BLOCK = 256;

export interface RecordTableOptions {
  readonly splitting: Splitting;
  readonly maxRowBytes: number;
  /** Records before the first row, e.g. a header. Default 0. */
  readonly skip?: number;
  /** @throws an Error whose message says what is wrong with the record */
  parse(text: string): Fields;
}

/** @throws DataError if the file is not of the format */
export async function openRecordTable(
  path: string,
  name: string,
  { splitting, maxRowBytes, skip = 0, parse }: RecordTableOptions,
): Promise<FileTable> {
  const records = await RecordFile.open(path, splitting, maxRowBytes);
  const rowCount = Math.max(0, records.count - skip);
  const read = async (start: number, end: number): Promise<readonly Row[]> => {
    const texts = await records.read(start + skip, Math.min(end, rowCount) + skip);
    return texts.map(({ text, problem }, i): Row => {
      const address = `${name}#${start + i}`;
      if (text === undefined) return { address, problem };
      try {
        return { address, fields: parse(text) };
      } catch (error) {
        return { address, problem: messageOf(error) };
      }
    });
  };
  try {
    const columns = columnsOfRows(await read(0, Math.min(SAMPLED, rowCount)));
    return { rowCount, blockRows: BLOCK, columns, read, dispose: () => records.close() };
  } catch (error) {
    await records.close();
    throw error;
  }
}
