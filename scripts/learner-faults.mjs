/**
 * Trains tiny policies through servers and networks that fail at random, and compares the weights with
 * those of an undisturbed training: node scripts/learner-faults.mjs [count=200] [first seed=1000].
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const [count = '200', first = '1000'] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const args = [
  vitest,
  'run',
  'packages/tinker/src/faults/campaign.test.ts',
  '--testTimeout=3600000',
];
const env = { ...process.env, SACCADE_FAULT_RUNS: count, SACCADE_FAULT_SEED: first };
const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
process.exitCode = status ?? 1;
