/**
 * Load with faults for a tool service: many rollouts call its tools at a time while 5 % of the calls
 * crash, hang, block, answer late, answer garbage or take all memory. Every call must end once, in the
 * right way, and nothing may be left. Then batches against single calls, in turns, without faults.
 *
 *   node packages/tool-service/bin/load.js [--seconds 60] [--rollouts 64] [--fault-share 0.05]
 *     [--copies 2] [--compare-seconds 15] [--seed 1] [--tools name,name] [--module file] [--out file]
 *
 * After npx tsc -b. By default five image tools that run in the sandbox, and three that are simple.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython } from '@saccade/sandbox';
import { runLoad } from '../dist/load.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rollouts: { type: 'string', default: '64' },
    'fault-share': { type: 'string', default: '0.05' },
    copies: { type: 'string', default: '2' },
    'compare-seconds': { type: 'string', default: '15' },
    seed: { type: 'string', default: '1' },
    tools: { type: 'string' },
    module: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  },
});

// A folder of its own, so that whatever is left in it is ours.
const folder = mkdtempSync(join(tmpdir(), 'saccade-load-'));
// Without bubblewrap, sessions are other users of the host, which have to get to theirs.
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const root = join(import.meta.dirname, '../../..');
const loadModule = pathToFileURL(join(import.meta.dirname, '../dist/load.js')).href;
const modules = [
  import.meta.resolve('@saccade/tools'),
  loadModule,
  ...values.module.map((file) => pathToFileURL(resolve(file)).href),
];
const imageTools = ['zoom_in', 'rotate', 'flip', 'resize', 'draw_box'];
const named = (names) => names.map((name) => ({ name }));
const copies = Number(values.copies);
const groups =
  values.tools === undefined
    ? [
        { name: 'images', copies, tools: named(imageTools.map((name) => `image_${name}_tool`)) },
        { name: 'simple', copies, concurrency: 4, tools: named(['digest_tool', 'show_tool']) },
        { name: 'device', tools: named(['device_tool']) },
      ]
    : [{ name: 'tools', copies, concurrency: 2, tools: named(values.tools.split(',')) }];

const common = {
  ...{ groups, modules, loadModule },
  python: async () => (await ensurePython(join(root, '.cache/sandbox-venv'))).python,
  rollouts: Number(values.rollouts),
  seed: Number(values.seed),
  onProgress: (note) => console.error(note),
};

const began = loadavg()[0];
const report = await runLoad({
  ...common,
  seconds: Number(values.seconds),
  faultShare: Number(values['fault-share']),
  ...{ maxBatch: 8, timeoutSeconds: 120, runSeconds: 5 },
});

/** Calls a second, in turns, so that other work on the machine affects both. */
async function compare(seconds) {
  const rounds = [];
  for (let round = 0; round < 3 && seconds > 0; round++) {
    const row = {};
    for (const [name, maxBatch] of [
      ['single', 1],
      ['batches', 16],
    ]) {
      const { tools, callsPerSecond } = await runLoad({
        ...{ ...common, seconds, maxBatch, faultShare: 0, cancelShare: 0, repeatShare: 0 },
        ...(values.tools === undefined && {
          groups: groups.filter(({ name }) => name === 'device'),
          only: ['device_tool'],
        }),
      });
      row[name] = { callsPerSecond, tools };
    }
    rounds.push(row);
  }
  return rounds;
}

const machine = `${cpus()[0]?.model}, ${availableParallelism()} processors, Node ${process.version}`;
const loads = { before: began, after: loadavg()[0] };
const comparison = await compare(Number(values['compare-seconds']));
const result = { machine, loads, options: values, report, comparison };
const text = JSON.stringify(result, null, 2);
if (values.out !== undefined) writeFileSync(values.out, `${text}\n`);
console.log(text);
const isClean = Object.values(report.leftovers).every((left) => left === 0 || left.length === 0);
process.exitCode = report.violations.length === 0 && isClean ? 0 : 1;
