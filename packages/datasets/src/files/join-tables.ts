/** One table of several: the rows of each file after those of the file before. */
import type { Column, Row, Table } from '../table.ts';

/** A table of one file, with what its numbers cost. */
export interface FileTable extends Omit<Table, 'root'> {
  /** Rows that are read together at no further cost. */
  readonly blockRows: number;
}

/** Joins tables of files, in their order. */
export function joinTables(root: string, tables: readonly FileTable[]): Table {
  const starts: number[] = [];
  let rowCount = 0;
  for (const table of tables) {
    starts.push(rowCount);
    rowCount += table.rowCount;
  }
  return {
    root,
    rowCount,
    blockRows: Math.max(1, ...tables.map((table) => table.blockRows)),
    columns: columnsOf(tables),
    async read(start, end) {
      const rows: Row[] = [];
      for (const [i, table] of tables.entries()) {
        const from = Math.max(0, start - (starts[i] as number));
        const to = Math.min(table.rowCount, end - (starts[i] as number));
        if (from >= to) continue;
        const part = await table.read(from, to);
        for (const row of part) rows.push(row);
      }
      return rows;
    },
    async dispose() {
      for (const table of tables) await table.dispose();
    },
  };
}

/** The columns of all tables, each once. */
function columnsOf(tables: readonly FileTable[]): readonly Column[] {
  const columns = new Map<string, Column>();
  for (const table of tables) {
    for (const column of table.columns) {
      if (!columns.has(column.name)) columns.set(column.name, column);
    }
  }
  return [...columns.values()];
}
