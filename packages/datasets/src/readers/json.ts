/** JSON: one file with a list of objects, at its root or at a key of it. */
import { optionalText } from '@saccade/core/settings';
import { z } from 'zod';
import { joinTables } from '../files/join-tables.ts';
import { parseMember, parseObject } from '../files/parse-object.ts';
import { openRecordTable } from '../files/record-table.ts';
import { jsonElements, MEMBERS } from '../files/split-json.ts';
import { defineReader } from '../reader.ts';
import { openAll } from '../table.ts';

export const json = defineReader({
  name: 'json',
  description: 'A list of objects in a .json file, at the root or at a key; never read as a whole.',
  settings: z.strictObject({
    records: optionalText({
      unit: 'key',
      about:
        'Key of the root that has the list; *: the root has a member for each row; unset: its first list.',
    }),
  }),
  claims: (names) => names.filter((name) => /\.json$/i.test(name)),
  rank: 5,
  namesFiles: true,
  async open({ records }, { files, root, maxRowBytes }) {
    const parse = records === MEMBERS ? parseMember : parseObject;
    const options = { splitting: jsonElements(records), maxRowBytes, parse };
    const tables = files.map((file) => () => openRecordTable(file.path, file.name, options));
    return joinTables(root, await openAll(tables));
  },
});
