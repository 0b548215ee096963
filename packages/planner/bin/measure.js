#!/usr/bin/env node
/** Measures what the planner is validated on: `node packages/planner/bin/measure.js --help`. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HELP = `Train small runs that differ in kind, measure the costs of the first, and compare its simulations with all.

  node packages/planner/bin/measure.js [--out <folder>] [--repeats <n>] [--steps <n>]

  --out <folder>   where runs and costs go (default: runs/planner); what is there is not trained again
  --repeats <n>    runs of each kind, in turns; their median counts (default: 3)
  --steps <n>      steps of each, the first of which does not count (default: 12)
  --port <n>       of the engine in another process (default: 8711)

It takes about a minute for each run on two processors. Leave the machine alone meanwhile: the load is printed.`;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'runs/planner' },
    repeats: { type: 'string', default: '3' },
    steps: { type: 'string', default: '12' },
    port: { type: 'string', default: '8711' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const saccade = fileURLToPath(new URL('../../cli/bin/saccade.js', import.meta.url));
const validate = fileURLToPath(new URL('./validate.js', import.meta.url));
const out = resolve(values.out);
const repeats = Number(values.repeats);
const url = `http://127.0.0.1:${values.port}`;
const base = join(out, 'base');
mkdirSync(out, { recursive: true });

/** A policy of some 14 million weights, with images of 64 tokens: a step has work for every part. */
const model = [
  ...['hidden=384', 'layers=8', 'intermediate=1152', 'maxPixels=50176'].map(
    (one) => `model.${one}`,
  ),
  'evaluation.count=1',
];
const training = [
  ...model,
  `startFrom=${base}`,
  'sft.updates=0',
  `rl.steps=${values.steps}`,
  'rl.groupSize=16',
  'rl.learningRate=1e-5',
  // The time of steps alone counts.
  'evaluation.everySteps=0',
  'checkpoint.everyRlSteps=1000',
];
const synchronous = (prompts) => ['scheduler=synchronous', `scheduler.promptsPerStep=${prompts}`];
const asynchronous = [
  'scheduler=asynchronous',
  'scheduler.promptsPerStep=4',
  'scheduler.maxStaleness=1',
  'scheduler.tooStale=wait',
];
const elsewhere = ['engine=http', `engine.baseUrl=${url}`];

/** Runs by name; costs come from the first. */
const kinds = {
  synchronous: synchronous(4),
  'twice-the-batch': synchronous(8),
  'half-the-batch': synchronous(2),
  asynchronous,
  'engine-elsewhere': [...synchronous(4), ...elsewhere],
  'asynchronous-elsewhere': [...asynchronous, ...elsewhere],
};

await train(base, [
  ...model,
  'sft.updates=40',
  'coldStart.answerWithoutLooking=0.4',
  ...synchronous(1),
  'rl.steps=1',
]);
const server = spawn(process.execPath, [saccade, 'serve', 'policy', base, '--port', values.port], {
  stdio: 'ignore',
});
try {
  await untilServed();
  for (let i = 1; i <= repeats; i++) {
    for (const [name, settings] of Object.entries(kinds)) {
      await train(join(out, `${name}-${i}`), [...training, ...settings]);
    }
  }
  const source = join(out, 'synchronous-1');
  const plan = ['plan', source, '--gpus', '1', '--json'];
  const costs = join(out, 'costs.json');
  const costsElsewhere = join(out, 'costs-elsewhere.json');
  writeFileSync(costs, await run([saccade, ...plan]));
  writeFileSync(costsElsewhere, await run([saccade, ...plan, '--engine', url]));
  const runs = Object.keys(kinds).map((name) =>
    Array.from({ length: repeats }, (_, i) => join(out, `${name}-${i + 1}`)).join(','),
  );
  const files = ['--source', source, '--costs', costs, '--elsewhere', costsElsewhere];
  console.log(await run([validate, ...files, '--verbose', ...runs]));
} finally {
  server.kill();
}

async function train(directory, settings) {
  if (existsSync(join(directory, 'report.html'))) return;
  const given = settings.flatMap((one) => ['--set', one]);
  const started = Date.now();
  const before = loadavg()[0];
  await run([saccade, 'train', 'smoke', '--out', directory, ...given]);
  const seconds = (Date.now() - started) / 1000;
  const load = `load ${before.toFixed(1)} to ${loadavg()[0].toFixed(1)}`;
  console.error(`${directory}: ${seconds.toFixed(0)} s, ${load}`);
}

/** Runs a script and gives what it printed. */
function run(command) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (part) => (text[name] += part));
    child.on('close', (code) => {
      if (code === 0) done(text.stdout);
      else fail(new Error(`${command.join(' ')} ended with ${code}:\n${text.stderr.slice(-2000)}`));
    });
  });
}

async function untilServed() {
  for (let tries = 0; tries < 120; tries++) {
    const isThere = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await new Promise((resume) => setTimeout(resume, 500));
  }
  throw new Error(`There is no engine at ${url}.`);
}
