/** `jsonl`: every row as one line of JSON, in a file or on the standard output. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from '@saccade/core/settings';
import { z } from 'zod';
import { defineTracker } from '../tracker.ts';

const settings = z.strictObject({
  path: text({
    default: 'metrics-plain.jsonl',
    unit: 'path',
    about: 'The file, from the run’s directory; "-" for the standard output.',
  }),
});

export const jsonl = defineTracker({
  name: 'jsonl',
  description: 'One line of JSON per row, without checksums, in a file or on the standard output.',
  settings,
  open({ path }, { directory, rows }) {
    if (path === '-') {
      return {
        metrics: (row) => void process.stdout.write(`${JSON.stringify(row)}\n`),
        close() {},
      };
    }
    const target = resolve(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    const file = openSync(target, 'w');
    const write = (row: object): void => void writeSync(file, `${JSON.stringify(row)}\n`);
    for (const row of rows) write(row);
    return { metrics: write, close: () => closeSync(file) };
  },
});
