#!/usr/bin/env node
/**
 * How fast sessions are, each kind of call in turn, with a cold interpreter per call beside them.
 * `node packages/sandbox/bin/speed.js PYTHON [TIER ...]`; processor time is the server's and its
 * sessions', from /proc.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { localTiers, openSandbox } from '../dist/index.js';

const [python = 'python3', ...named] = process.argv.slice(2);
const run = promisify(execFile);
const trivial = 'print(sum(range(100)))';
const real = [
  'image = Image.fromarray(np.zeros((512, 512, 3), np.uint8))',
  'image.crop((40, 40, 376, 376)).resize((336, 336)).show()',
].join('\n');
const ROUNDS = 8;
const CALLS = 25;
const AT_ONCE = 4;

/** Clock ticks of 10 ms that a process and the children it waited for have used. */
function ticks(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, text) => sum + Number(text), 0);
}

function serverOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' || sandboxIsPlain ? pid : serverOf(Number(children.split(' ')[0]));
}
let sandboxIsPlain = false;

async function expectOk(outcome) {
  const { kind, error } = await outcome;
  if (kind !== 'ok') throw new Error(`a call ended as ${kind}: ${error?.message}`);
}

async function once(sandbox, code, options) {
  const session = await sandbox.open(options);
  await expectOk(session.execute(code));
  await session.dispose();
}

async function inSessions(sandbox, options, use) {
  const sessions = [];
  for (let i = 0; i < AT_ONCE; i++) sessions.push(await sandbox.open(options));
  const result = await use(sessions);
  await Promise.all(sessions.map((session) => session.dispose()));
  return result;
}

/** Milliseconds of each of `count` calls, one after another. */
async function oneByOne(count, call) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await call(i);
    times.push(performance.now() - start);
  }
  return times;
}

async function perSecond(count, call) {
  const start = performance.now();
  let next = 0;
  const worker = async (lane) => {
    while (next++ < count) await call(lane);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => worker(lane)));
  return (1000 * count) / (performance.now() - start);
}

const quantile = (values, part) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))];
};

const sandboxes = [];
for (const isolation of named.length > 0 ? named : localTiers) {
  sandboxes.push(await openSandbox({ python, isolation, unsafe: true }));
}
const results = new Map();
const note = (what, latencies, rate, cpu) => {
  const kept = results.get(what) ?? { latencies: [], rates: [], cpu: [] };
  kept.latencies.push(...latencies);
  if (rate !== undefined) kept.rates.push(rate);
  if (cpu !== undefined) kept.cpu.push(cpu);
  results.set(what, kept);
};
const cold = (code) => run(python, ['-c', `import numpy as np\nfrom PIL import Image\n${code}`]);

for (let round = 0; round < ROUNDS; round++) {
  note('cold python3, numpy and Pillow', await oneByOne(5, () => cold(trivial)));
  for (const sandbox of sandboxes) {
    sandboxIsPlain = sandbox.tier !== 'bubblewrap';
    const server = serverOf(sandbox.serverPid);
    const { tier } = sandbox;
    const opens = await oneByOne(CALLS, async () => (await sandbox.open()).dispose());
    note(`${tier}: open and dispose`, opens);
    for (const [name, code] of [
      ['trivial', trivial],
      ['crop and resize, shown', real],
    ]) {
      const fresh = await oneByOne(CALLS, () => once(sandbox, code));
      const before = ticks(server);
      const rate = await perSecond(4 * CALLS, () => once(sandbox, code));
      note(
        `${tier}: session for one call, ${name}`,
        fresh,
        rate,
        ((ticks(server) - before) * 10) / (4 * CALLS),
      );
      for (const mode of ['persistent', 'transactional', 'fresh']) {
        await inSessions(sandbox, { mode }, async (sessions) => {
          const execute = (lane) => expectOk(sessions[lane % AT_ONCE].execute(code));
          const latencies = await oneByOne(CALLS, () => execute(0));
          note(`${tier}: ${mode}, ${name}`, latencies, await perSecond(4 * CALLS, execute));
        });
      }
    }
  }
}
await Promise.all(sandboxes.map((sandbox) => sandbox.dispose()));
console.log('| what | p50 ms | p95 ms | a second, four at once | processor ms |');
console.log('| --- | --: | --: | --: | --: |');
for (const [what, { latencies, rates, cpu }] of results) {
  const cells = [quantile(latencies, 0.5).toFixed(1), quantile(latencies, 0.95).toFixed(1)];
  cells.push(rates.length > 0 ? quantile(rates, 0.5).toFixed(0) : '');
  cells.push(cpu.length > 0 ? quantile(cpu, 0.5).toFixed(1) : '');
  console.log(`| ${[what, ...cells].join(' | ')} |`);
}
