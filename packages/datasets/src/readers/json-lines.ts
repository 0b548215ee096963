/** JSON Lines: one object a line. */
import { z } from 'zod';
import { joinTables } from '../files/join-tables.ts';
import { parseObject } from '../files/parse-object.ts';
import { openRecordTable } from '../files/record-table.ts';
import { lines } from '../files/split-lines.ts';
import { defineReader } from '../reader.ts';
import { openAll } from '../table.ts';

export const jsonLines = defineReader({
  name: 'json-lines',
  description: 'One JSON object a line: .jsonl, .ndjson.',
  settings: z.strictObject({}),
  claims: (names) => names.filter((name) => /\.(jsonl|ndjson)$/i.test(name)),
  rank: 4,
  namesFiles: true,
  async open(_, { files, root, maxRowBytes }) {
    const options = { splitting: lines, maxRowBytes, parse: parseObject };
    const tables = files.map((file) => () => openRecordTable(file.path, file.name, options));
    return joinTables(root, await openAll(tables));
  },
});
