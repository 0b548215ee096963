#!/usr/bin/env node
// Records what sessions ask the kernel for, and compares it with python/system_calls.py. Needs strace.
//   node packages/sandbox/bin/record-calls.js [--tier landlock]   runs the exercises
//   node packages/sandbox/bin/record-calls.js -- npx vitest run packages/sandbox   runs a command
// Prints calls that are missing from the list, and those on it that were not made; ends with status 1
// where one is missing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython } from '../dist/index.js';
import { callsOfSessions, listedCalls, runExercises } from '../dist/system-calls/index.js';

const { values: flags, positionals: command } = parseArgs({
  allowPositionals: true,
  options: { tier: { type: 'string', default: 'bubblewrap' }, run: { type: 'boolean' } },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
if (flags.run) {
  const failures = await runExercises(python, flags.tier);
  for (const failure of failures) console.log(`failed: ${failure}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} else {
  const own = [process.execPath, fileURLToPath(import.meta.url), '--run', '--tier', flags.tier];
  const folder = mkdtempSync(join(tmpdir(), 'saccade-calls-'));
  const file = join(folder, 'trace');
  const traced = ['-f', '-qq', '--decode-pids=pidns', '-s', '0', '-o', file, '--'];
  const { status, error } = spawnSync('strace', [...traced, ...(command.length ? command : own)], {
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  const made = callsOfSessions(readFileSync(file, 'latin1'));
  rmSync(folder, { recursive: true });
  const { allowed, refused } = await listedCalls(python);
  const names = [...made.keys()].sort();
  const missing = names.filter((name) => !allowed.has(name) && !refused.has(name));
  const unused = [...allowed].filter((name) => !made.has(name)).sort();
  const tried = names.filter((name) => refused.has(name));
  console.log(`made: ${names.map((name) => `${name} ${made.get(name)}`).join(', ')}`);
  console.log(`listed, not made: ${unused.join(' ') || 'none'}`);
  console.log(`refused on purpose: ${tried.join(' ') || 'none'}`);
  console.log(`missing: ${missing.join(' ') || 'none'}`);
  process.exitCode = status === 0 && missing.length === 0 ? 0 : 1;
}
