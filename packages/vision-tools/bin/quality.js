#!/usr/bin/env node
/**
 * Measures how good the visual tools are, and how long a call takes, on cases whose truth is known.
 *
 *   node bin/quality.js [--python PATH] [--most N] [--json FILE] [--write] [tool …]
 *
 * `--write` puts the rows of these tools into quality/results.md and keeps the others.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython } from '@saccade/sandbox';
import { measureQuality, mergeRows, qualityTable, suites } from '../dist/quality/index.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string' },
    most: { type: 'string' },
    json: { type: 'string' },
    write: { type: 'boolean' },
  },
});

const python = values.python ?? (await ensurePython(at('../../../.cache/sandbox-venv'))).python;
const chosen = Object.values(suites).filter(
  ({ tool }) => positionals.length === 0 || positionals.includes(tool),
);
const reports = await measureQuality(chosen, {
  python,
  folder: at('../quality/python'),
  ...(values.most !== undefined && { most: Number(values.most) }),
  onCase: (tool, done, total) => {
    if (done === total || done % 10 === 0) console.error(`${tool}: ${done} of ${total}`);
  },
});
console.log(qualityTable(reports));
for (const { tool, worst } of reports) {
  console.log(
    `\n${tool}, worst: ${worst.map((one) => `${one.name} ${one.score.toFixed(2)}`).join('; ')}`,
  );
}
if (values.json !== undefined)
  await writeFile(values.json, `${JSON.stringify(reports, null, 2)}\n`);
if (values.write) {
  const file = at('../quality/results.md');
  const before = await readFile(file, 'utf8').catch(() => '');
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} processors, Node ${process.version}`;
  await writeFile(file, mergeRows(before, reports, machine));
}
