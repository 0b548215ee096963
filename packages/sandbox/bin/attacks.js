#!/usr/bin/env node
/**
 * Attacks every tier of this machine and prints how each attack ended: as the user who starts it and,
 * started as root, as an ordinary user too. `node packages/sandbox/bin/attacks.js PYTHON`, with the
 * interpreter that `ensurePython` made; tiers may be named after it; `--json` for the results alone.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { drawAttacks, runAttacks } from '../dist/attacks/index.js';
import { localTiers } from '../dist/index.js';

const [python = 'python3', ...rest] = process.argv.slice(2);
const form = rest.find((word) => word === '--json');
const named = rest.filter((word) => word !== form);
const columns = [];
for (const tier of named.length > 0 ? named : localTiers) {
  try {
    columns.push(await runAttacks(python, tier));
  } catch (error) {
    console.error(`${tier}: ${error.message}`);
  }
}
if (form === '--json') {
  process.stdout.write(JSON.stringify(columns));
} else {
  if (process.getuid() === 0) columns.push(...asOrdinaryUser());
  console.log(drawAttacks(columns));
  for (const { tier, isRoot, results } of columns) {
    for (const { attack, verdict, expected, detail } of results) {
      if (verdict === expected && !process.env.VERBOSE) continue;
      console.log(`${tier} ${isRoot ? 'root' : 'user'} · ${attack.name}: ${verdict} (${detail})`);
    }
  }
  const isAsExpected = columns.every(({ results }) =>
    results.every(({ verdict, expected }) => verdict === expected),
  );
  process.exitCode = isAsExpected ? 0 : 1;
}

function asOrdinaryUser() {
  const own = [process.execPath, fileURLToPath(import.meta.url), python, ...named, '--json'];
  const identity = ['--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  const child = spawnSync('setpriv', [...identity, ...own], {
    env: { ...process.env, HOME: '/tmp' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
  if (child.status === 0) return JSON.parse(child.stdout);
  console.error(`as an ordinary user: ${child.error?.message ?? `status ${child.status}`}`);
  return [];
}
