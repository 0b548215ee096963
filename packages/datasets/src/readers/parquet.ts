/** Parquet, as Hugging Face lays it out: image structs, lists of images, sharded files. */
import { z } from 'zod';
import { joinTables } from '../files/join-tables.ts';
import { defineReader } from '../reader.ts';
import { openAll } from '../table.ts';

export const parquet = defineReader({
  name: 'parquet',
  description: 'Parquet files, sharded or not, with images as structs of bytes and path.',
  settings: z.strictObject({}),
  claims: (names) => names.filter((name) => /\.parquet$/i.test(name)),
  rank: 1,
  namesFiles: false,
  async open(_, { files, root, maxRowBytes }) {
    const { openFile } = await import('./parquet-file.ts');
    const tables = files.map(
      ({ path, name }) =>
        () =>
          openFile(path, name, maxRowBytes),
    );
    return joinTables(root, await openAll(tables));
  },
});
