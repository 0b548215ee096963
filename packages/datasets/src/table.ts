/** A table: rows of a data set by number, wherever their files lie. */

/** The fields of a row by the name of their column. */
export type Fields = Readonly<Record<string, unknown>>;

/** A row, or what is wrong with it. */
export type Row =
  | { readonly address: string; readonly fields: Fields; readonly problem?: undefined }
  | { readonly address: string; readonly fields?: undefined; readonly problem: string };

/** A column: its name, and its type as the format or the first rows have it. */
export interface Column {
  readonly name: string;
  /** In words: `string`, `struct`, `list`. */
  readonly type: string;
}

/**
 * Rows of files of one format. Rows are numbered from 0 over all files in their order; what a number
 * means never changes while the files do not.
 */
export interface Table {
  readonly rowCount: number;
  /** Rows that are best read together: those of a row group. */
  readonly blockRows: number;
  readonly columns: readonly Column[];
  /** Folder that file names in rows are relative to. */
  readonly root: string;
  /**
   * The rows [start, end), at most those that there are. A row that cannot be read is one with a
   * `problem`, never an error.
   */
  read(start: number, end: number): Promise<readonly Row[]>;
  dispose(): Promise<void>;
}

/** Opens tables one after another; if one fails, closes those before. */
export async function openAll<Opened extends { dispose(): Promise<void> }>(
  openers: readonly (() => Promise<Opened>)[],
): Promise<readonly Opened[]> {
  const opened: Opened[] = [];
  try {
    for (const open of openers) opened.push(await open());
  } catch (error) {
    for (const one of opened) await one.dispose();
    throw error;
  }
  return opened;
}

/** Columns of rows that have no schema: the keys of the first ones, with the types of their values. */
export function columnsOfRows(rows: readonly Row[]): readonly Column[] {
  const types = new Map<string, string>();
  for (const { fields } of rows) {
    for (const [name, value] of Object.entries(fields ?? {})) {
      const type = typeOf(value);
      if ((types.get(name) ?? 'null') === 'null') types.set(name, type);
    }
  }
  return [...types].map(([name, type]) => ({ name, type }));
}

/** The type of a value, in the words of messages. */
export function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Date) return 'date';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' ? 'struct' : typeof value;
}
