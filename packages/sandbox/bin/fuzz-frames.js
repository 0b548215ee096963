#!/usr/bin/env node
/**
 * Gives replies by the million to the decoders of Node and of the supervisor, and live ones to real
 * sessions: `node packages/sandbox/bin/fuzz-frames.js [--count 1000000] [--live 2000] [--seed 1]
 * [--isolation auto]`. Fails if anything throws, grows, takes long, or ends another session.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fuzzLive, fuzzReplies, liveLimits } from '../dist/attacks/index.js';
import { ensurePython, openSandbox } from '../dist/index.js';

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    live: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    isolation: { type: 'string', default: 'auto' },
  },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
const seed = Number(flags.seed);
let failures = 0;

function report(name, { ends, failures: found, slowestMs, grownBytes }) {
  const counts = Object.entries(ends).sort(([a], [b]) => (a < b ? -1 : 1));
  console.log(`${name}: ${counts.map(([end, count]) => `${end} ${count}`).join(', ')}`);
  const megabytes = (grownBytes / 2 ** 20).toFixed(1);
  console.log(`  slowest ${slowestMs.toFixed(0)} ms, heap ${megabytes} MiB larger`);
  for (const failure of found) console.error(`  ${failure}`);
  failures += found.length;
}

const supervisor = [join(here, 'fuzz_replies.py'), flags.count, flags.seed];
console.log(`supervisor: ${execFileSync(python, supervisor, { encoding: 'utf8' }).trim()}`);
report('node', await fuzzReplies({ count: Number(flags.count), seed }));
const sandbox = await openSandbox({
  ...{ python, isolation: flags.isolation, unsafe: true, forbidden: [], limits: liveLimits },
});
report(`live, ${sandbox.tier}`, await fuzzLive({ sandbox, count: Number(flags.live), seed }));
await sandbox.dispose();
process.exitCode = failures === 0 ? 0 : 1;
