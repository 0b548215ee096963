// Measures the cost of a stronger tier: starts, sessions and executions of several tiers, in turns:
//   node packages/sandbox/bin/tiers.js bubblewrap gvisor [--rounds 5]
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython, openSandbox } from '../dist/index.js';

const { values: flags, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
const tiers = positionals.length > 0 ? positionals : ['bubblewrap', 'gvisor'];
/** Room for emulated processors. */
const limits = { wallSeconds: 60, cpuSeconds: 60 };

const clock = async (call) => {
  const began = performance.now();
  const value = await call();
  return [performance.now() - began, value];
};

const opened = [];
for (const isolation of tiers) {
  const [start, sandbox] = await clock(() =>
    openSandbox({ python, isolation, limits, unsafe: true }),
  );
  opened.push({ isolation, start, sandbox, open: [], first: [], later: [], cycle: [] });
}
for (let round = 0; round < Number(flags.rounds); round++) {
  for (const { sandbox, open, first, later, cycle } of opened) {
    // One after another without a pause: none finds a server that was made ready while nobody asked.
    const [whole] = await clock(async () => {
      const [opening, session] = await clock(() => sandbox.open());
      open.push(opening);
      for (const times of [first, later]) {
        const [time, outcome] = await clock(() => session.execute('print(1)'));
        if (outcome.kind !== 'ok') throw new Error(`${outcome.kind}: ${outcome.error?.message}`);
        times.push(time);
      }
      await session.dispose();
    });
    cycle.push(whole);
  }
}
await Promise.all(opened.map(({ sandbox }) => sandbox.dispose()));

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
console.log(
  `${cpus()[0]?.model.trim()}, ${cpus().length} processors, load ${loadavg()[0].toFixed(1)}, ` +
    `Node ${process.version}; medians of ${flags.rounds} in turns`,
);
for (const { isolation, start, open, first, later, cycle } of opened) {
  const cells = [start, ...[open, first, later, cycle].map(median)].map((ms) => ms.toFixed(1));
  const [sandbox, session, one, next, all] = cells;
  console.log(
    `${isolation.padEnd(11)} sandbox ${sandbox} ms, session ${session} ms, first execution ${one} ms, ` +
      `next ${next} ms, open to end ${all} ms (${(1000 / median(cycle)).toFixed(2)} a second)`,
  );
}
