/** Readers as units: the formats that data sets come in. */
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import type { DataFile } from './files/data-files.ts';
import type { Table } from './table.ts';

/** The files of a table, and what a reader may take. */
export interface ReaderContext {
  /** In the order of their rows. */
  readonly files: readonly DataFile[];
  /** Folder that file names in rows are relative to. */
  readonly root: string;
  /** Bytes that one row may take; a larger one is corrupt. */
  readonly maxRowBytes: number;
}

/** A format of files. */
export interface Reader<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  readonly name: string;
  readonly description: string;
  /** Of the names of all files of a data set, those that this reader would take. */
  claims(names: readonly string[]): readonly string[];
  /** Its place among the readers that are asked: the first that claims a file gets the data set. */
  readonly rank: number;
  /** Whether rows name files beside them: then a data set of a hub is downloaded with all of them. */
  readonly namesFiles: boolean;
  /**
   * Opens files as a table. Nothing is kept of them but an index of fixed size.
   *
   * @throws DataError naming the file that is not of this format, or is not whole
   */
  open(settings: SettingsOf<Schema>, context: ReaderContext): Promise<Table>;
}

/** Defines your own reader, for the catalog. It returns `reader`, with its types inferred. */
export function defineReader<const Name extends string, Schema extends SettingsSchema>(
  reader: Reader<Schema> & { readonly name: Name },
): Reader<Schema> & { readonly name: Name } {
  return reader;
}
