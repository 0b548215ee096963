/** CSV and TSV with a header, quoted as in RFC 4180; every value is text. */
import { z } from 'zod';
import { joinTables } from '../files/join-tables.ts';
import { defineReader } from '../reader.ts';
import { openAll } from '../table.ts';

export const csv = defineReader({
  name: 'csv',
  description: 'Rows of text under a header: .csv, or .tsv with tabs.',
  settings: z.strictObject({}),
  claims: (names) => names.filter((name) => /\.(csv|tsv)$/i.test(name)),
  rank: 6,
  namesFiles: true,
  async open(_, { files, root, maxRowBytes }) {
    const { openFile } = await import('./csv-file.ts');
    const tables = files.map(
      ({ path, name }) =>
        () =>
          openFile(path, name, maxRowBytes),
    );
    return joinTables(root, await openAll(tables));
  },
});
