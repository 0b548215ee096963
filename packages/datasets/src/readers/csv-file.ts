/** One file of CSV or TSV as a table. */
import { DataError, messageOf } from '@saccade/core';
import { parse as parseCsv } from 'csv-parse/sync';
import type { FileTable } from '../files/join-tables.ts';
import { RecordFile } from '../files/record-file.ts';
import { openRecordTable } from '../files/record-table.ts';
import { csvRows } from '../files/split-csv.ts';
import type { Fields } from '../table.ts';

/** Opens one file of rows under a header. @throws DataError if it has no header */
export async function openFile(
  path: string,
  name: string,
  maxRowBytes: number,
): Promise<FileTable> {
  const delimiter = /\.tsv$/i.test(path) ? '\t' : ',';
  const columns = await headerOf(path, delimiter, maxRowBytes);
  return await openRecordTable(path, name, {
    splitting: csvRows,
    maxRowBytes,
    skip: 1,
    parse: (text) => fieldsOf(text, columns, delimiter),
  });
}

async function headerOf(path: string, delimiter: string, maxBytes: number) {
  const file = await RecordFile.open(path, csvRows, maxBytes);
  try {
    const [first] = await file.read(0, 1);
    if (first?.text === undefined) {
      throw new DataError(`${path} has no header, so its columns have no names. Write one.`);
    }
    const header = cells(first.text.replace(/^\uFEFF/, ''), delimiter);
    const twice = header.find((name, i) => header.indexOf(name) < i);
    if (twice === undefined) return header;
    throw new DataError(`${path} has two columns "${twice}". Rename one of them.`);
  } finally {
    await file.close();
  }
}

function fieldsOf(text: string, columns: readonly string[], delimiter: string): Fields {
  const values = cells(text, delimiter);
  if (values.length !== columns.length) {
    throw new DataError(`has ${values.length} cells, and the header ${columns.length}`);
  }
  // As pandas and Hugging Face read it, an empty cell is no value.
  return Object.fromEntries(columns.map((name, i) => [name, values[i] === '' ? null : values[i]]));
}

function cells(text: string, delimiter: string): readonly string[] {
  try {
    const [row = []] = parseCsv(text.replace(/\r$/, ''), { delimiter }) as string[][];
    return row;
  } catch (error) {
    throw new DataError(`is no valid row: ${messageOf(error)}`, { cause: error });
  }
}
