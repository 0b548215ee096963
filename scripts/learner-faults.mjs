/** Trains through learners that fail at random, and compares with a training that nothing disturbs; see --help. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `node scripts/learner-faults.mjs [count=200] [first seed=1000]
node scripts/learner-faults.mjs --processes 60 [--python PY]

Trains tiny policies through learners that fail at random. Every training must end with the metrics and
the weights, bit for bit, of one that nothing disturbs, with every optimizer step applied once.

Without --processes: networks that lose, double, cut and refuse, and servers that are started anew, in
one process; a plan takes a fraction of a second.

With it real processes: "saccade serve learner", "saccade train", one or two "saccade serve policy" for some,
and with --python the worker of workers/torch on two ranks. They are killed (-9) and held (SIGSTOP) at random
requests, a proxy fails the network between them, and disks are made full, where this process may mount
file systems of its own. No process may be left, and a run that cannot go on has to say why in a line.

  --processes N      plans to play
  --seed N           the first plan (default 1)
  --python PY        an interpreter with what workers/torch needs; adds the setup torch
  --setups LIST      of kernels, engine, engines, torch (default: all that can be had)
  --only LIST        kinds of faults: "kill server,hold rank-1,network,full disk of the run"
  --seconds N        time of a plan (default 300)
  --keep             keep logs and runs, below the folder for temporary files

A plan follows from its number: what failed is played again with --processes 1 --seed N and the same
--python and --setups. Build first: npx tsc -b packages/cli.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    python: { type: 'string' },
    setups: { type: 'string' },
    only: { type: 'string' },
    seconds: { type: 'string', default: '300' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const root = join(import.meta.dirname, '..');
const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);

function run(file, env) {
  const args = [vitest, 'run', file, '--testTimeout=3600000', '--disable-console-intercept'];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

const list = (text) => text?.split(',').map((one) => one.trim());
if (values.help) {
  console.log(HELP);
} else if (values.processes === undefined) {
  const [count = '200', first = '1000'] = positionals;
  run('packages/tinker/src/faults/campaign.test.ts', {
    SACCADE_FAULT_RUNS: count,
    SACCADE_FAULT_SEED: first,
  });
} else {
  const { processes, seed, python, setups, only, seconds, keep } = values;
  const flags = {
    processes: Number(processes),
    seed: Number(seed),
    seconds: Number(seconds),
    // Of this process: what tests write to theirs goes when they end.
    ...(keep && { keepIn: tmpdir() }),
    ...(python && { python: resolve(python) }),
    ...(setups && { setups: list(setups) }),
    ...(only && { only: list(only) }),
  };
  run('packages/cli/src/faults/process-faults.test.ts', {
    SACCADE_PROCESS_FAULTS: JSON.stringify(flags),
  });
}
