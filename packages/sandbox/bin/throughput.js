// How fast the sandbox is, in turns with a cold `python3` a call, which pays for its start and
// imports each time:
//   node packages/sandbox/bin/throughput.js [--isolation bubblewrap] [--servers 2] [--rounds 5]
import { execFile } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { coordinateImage } from '../dist/contract.js';
import { ensurePython, openSandbox } from '../dist/index.js';

const { values: flags } = parseArgs({
  options: {
    isolation: { type: 'string', default: 'auto' },
    servers: { type: 'string', default: String(Math.min(4, cpus().length)) },
    rounds: { type: 'string', default: '5' },
  },
});
const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
const sandbox = await openSandbox({
  python,
  isolation: flags.isolation,
  servers: Number(flags.servers),
});
const images = [{ name: 'image_clue_0', encoded: coordinateImage(512, 512) }];
/** Images of other bytes: what was done for one helps none of the others. */
const others = Array.from({ length: 240 }, (_, index) =>
  coordinateImage(512 + (index % 24), 508 + Math.floor(index / 24)),
);
let given = 0;
const trivial = 'print(1)';
const crop = 'image_clue_0.crop((100, 100, 400, 400)).resize((336, 336)).show()';

async function expect(session, code, count) {
  const { kind, images: shown, error } = await session.execute(code);
  if (kind !== 'ok' || shown.length !== count) throw new Error(`${kind}: ${error?.message}`);
}

async function cycle(code, count, options) {
  const session = await sandbox.open(options);
  await expect(session, code, count);
  await session.dispose();
}

async function start() {
  const began = performance.now();
  const session = await sandbox.open();
  const time = performance.now() - began;
  await session.dispose();
  return time;
}

/** Milliseconds of each of `count` calls, one after another; the call's own measure if it has one. */
async function times(count, call) {
  const found = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    const own = await call();
    found.push(typeof own === 'number' ? own : performance.now() - began);
  }
  return found;
}

/** Calls a second, `width` at a time. */
async function rate(count, width, call) {
  const began = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return [(count / (performance.now() - began)) * 1000];
}

const kept = await sandbox.open({ images });
const careful = await sandbox.open({ images, mode: 'transactional' });
const cold = (code) => () => run(python, ['-c', code]).then(() => undefined);
const coldCrop =
  'import io, numpy\nfrom PIL import Image\nimage = Image.new("RGB", (512, 512))\n' +
  'image.crop((100, 100, 400, 400)).resize((336, 336)).save(io.BytesIO(), "PNG")';
const once = () => cycle(trivial, 0);
const cropOnce = () => cycle(crop, 1, { images });
const cropAnother = () => {
  const encoded = others[given++ % others.length];
  return cycle(crop, 1, { images: [{ name: 'image_clue_0', encoded }] });
};

/** Executions a second in four sessions that are open. */
async function inSessions() {
  const sessions = await Promise.all([1, 2, 3, 4].map(() => sandbox.open()));
  const free = [...sessions];
  const found = await rate(800, 4, async () => {
    const session = free.pop();
    await expect(session, trivial, 0);
    free.push(session);
  });
  await Promise.all(sessions.map((session) => session.dispose()));
  return found;
}

/** Name, unit, one round. */
const cases = [
  ['execute in a session', 'ms', () => times(40, () => expect(kept, trivial, 0))],
  ['execute in a session, crop and resize', 'ms', () => times(20, () => expect(kept, crop, 1))],
  ['execute in a transactional session', 'ms', () => times(40, () => expect(careful, trivial, 0))],
  ['executions in sessions, 4 at a time', '/s', inSessions],
  ['session start', 'ms', () => times(30, start)],
  ['open, execute, dispose', 'ms', () => times(30, once)],
  ['… 8 at a time', '/s', () => rate(160, 8, once)],
  ['… with a 512² image, crop and resize', '/s', () => rate(80, 8, cropOnce)],
  ['… with an image of its own each', '/s', () => rate(80, 8, cropAnother)],
  ['cold python3', 'ms', () => times(8, cold(trivial))],
  ['cold python3 with numpy and Pillow', 'ms', () => times(5, cold(coldCrop))],
  ['… 2 at a time', '/s', () => rate(10, 2, cold(coldCrop))],
];
const found = cases.map(() => []);
for (let round = 0; round <= Number(flags.rounds); round++) {
  for (const [index, [, , measure]] of cases.entries()) {
    const values = await measure();
    if (round > 0) found[index].push(...values); // the first round warms up
  }
}
await kept.dispose();
await careful.dispose();
await sandbox.dispose();

const at = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.round(share * (values.length - 1))];
console.log(
  `${cpus()[0]?.model.trim()}, ${cpus().length} processors, load ${loadavg()[0].toFixed(1)}, ` +
    `tier ${sandbox.tier}, ${flags.servers} fork servers, Node ${process.version}`,
);
for (const [index, [name, unit]] of cases.entries()) {
  const values = found[index];
  const digits = unit === 'ms' ? 2 : 0;
  // For rates the high end is the one that others disturbed least.
  const [middle, other] = [at(values, 0.5), at(values, unit === 'ms' ? 0.95 : 1)];
  console.log(
    `${name.padEnd(40)} ${middle.toFixed(digits).padStart(8)} ${unit.padEnd(3)} ` +
      `${unit === 'ms' ? 'p95 ' : 'best'} ${other.toFixed(digits).padStart(8)}`,
  );
}
