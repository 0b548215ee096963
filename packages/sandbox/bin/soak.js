// Full load on two services with kills at random points; every call must end once, nothing may
// grow, nothing may be left:
//   node packages/sandbox/bin/soak.js --minutes 30 [--isolation bubblewrap] [--callers 8]
// Writes results/soak.json and results/soak.svg. Ends with status 1 if a promise was broken.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython, openRemoteSandbox } from '../dist/index.js';
import { drawCharts } from './soak/chart.js';
import { Load } from './soak/load.js';
import { descriptorsOf, isSame, rssOf, treeOf } from './soak/processes.js';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    isolation: { type: 'string', default: 'auto' },
    callers: { type: 'string', default: '8' },
    note: { type: 'string', default: '' },
  },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
const pause = (seconds) => new Promise((wake) => setTimeout(wake, seconds * 1000));
const between = (low, high) => low + Math.random() * (high - low);
const begin = performance.now();
const minutes = () => (performance.now() - begin) / 60_000;
const lasts = Number(flags.minutes);
let isOver = false;

/** A port that stays the same when the service is started again. */
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** A service that is started again whenever it ends, with a temporary directory of its own. */
class Host {
  constructor(name, port) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this.port = port;
    this.temporary = mkdtempSync(join(tmpdir(), `saccade-soak-${name}-`));
    this.starts = 0;
  }

  async start() {
    this.starts += 1;
    const args = [join(here, 'soak/service.js'), python, flags.isolation, String(this.port)];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, TMPDIR: this.temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    this.ended = new Promise((done) => child.once('exit', done));
    void this.ended.then(() => !isOver && this.start());
    await Promise.race([new Promise((done) => child.stdout.once('data', done)), this.ended]);
  }

  async stop() {
    this.child.kill('SIGTERM');
    await Promise.race([this.ended, pause(30)]);
    this.child.kill('SIGKILL');
  }
}

const hosts = [new Host('a', await freePort()), new Host('b', await freePort())];
const [lasting, killed] = hosts;
await Promise.all(hosts.map((host) => host.start()));
const sandbox = await openRemoteSandbox({ hosts: hosts.map(({ url }) => url), checkSeconds: 1 });
const load = new Load(
  sandbox,
  hosts.map(({ url }) => url),
);

/** Every process ever seen below a service, to know what is left of them. */
const seen = new Map();
const samples = [];

function sample() {
  const trees = hosts.map(({ child }) => treeOf(child.pid));
  for (const one of trees.flat()) seen.set(`${one.pid} ${one.start}`, one);
  const living = new Set(trees.flat().map(({ pid }) => pid));
  for (const [key, one] of seen) if (!living.has(one.pid) && !isSame(one)) seen.delete(key);
  const [tree] = trees;
  samples.push({
    minutes: minutes(),
    descriptors: descriptorsOf(lasting.child.pid),
    nodeBytes: rssOf(lasting.child.pid),
    treeBytes: tree.reduce((sum, { pages }) => sum + pages * 4096, 0) - rssOf(lasting.child.pid),
    processes: tree.length,
    strays: [...seen.values()].filter(({ pid }) => !living.has(pid)).length,
    directories: hosts.reduce((sum, { temporary }) => sum + readdirSync(temporary).length, 0),
    driverBytes: process.memoryUsage().rss,
    waiting: load.counts.made - load.counts.ended,
    ended: load.counts.ended,
  });
}

const kills = [];

/** Kills something, and says what. */
function strike() {
  const host = Math.random() < 0.6 ? lasting : killed;
  const tree = treeOf(host.child.pid).filter(({ pid }) => pid !== host.child.pid);
  const isPython = ({ name }) => name.startsWith('python');
  const belowOf = (one) => tree.filter(({ parent }) => parent === one.pid);
  const above = tree.filter((one) => belowOf(one).length > 0);
  // The first that a supervisor starts forks all the others.
  const nurseries = above.filter(isPython).map((one) => {
    return belowOf(one).reduce((a, b) => (Number(a.start) <= Number(b.start) ? a : b));
  });
  const servers = [...above, ...nurseries];
  const workers = tree.filter((one) => !servers.includes(one) && isPython(one));
  const dice = Math.random();
  const [what, victims] = dice < 0.8 ? ['worker', workers] : ['server', servers];
  const victim = victims[Math.floor(Math.random() * victims.length)];
  if (victim === undefined) return;
  try {
    process.kill(victim.pid, 'SIGKILL');
    kills.push({ minutes: minutes(), what, host: host.name });
  } catch {
    // It ended by itself a moment ago.
  }
}

async function chaos() {
  let nextNode = minutes() + between(0.5, 1);
  let nextStop = minutes() + between(1.5, 2.5);
  let seen = 0;
  while (!isOver) {
    await pause(between(0.5, 4));
    if (isOver) return;
    // Not while everything is still starting, or a slow machine would see nothing else.
    if (load.counts.ended < seen + 40) continue;
    seen = load.counts.ended;
    strike();
    if (minutes() > nextNode) {
      killed.child.kill('SIGKILL');
      kills.push({ minutes: minutes(), what: 'node', host: killed.name });
      nextNode = minutes() + between(1, 2.5);
    } else if (minutes() > nextStop) {
      killed.child.kill('SIGTERM');
      kills.push({ minutes: minutes(), what: 'drain', host: killed.name });
      nextStop = minutes() + between(2, 4);
    }
  }
}

const sampling = setInterval(sample, 2_000);
const callers = [
  ...Array.from({ length: Number(flags.callers) }, () => load.trajectories()),
  load.runs(),
  load.runs(),
];
const chaotic = chaos();
while (minutes() < lasts) {
  await pause(Math.min(30, (lasts - minutes()) * 60));
  const { made, ended } = load.counts;
  console.log(`${minutes().toFixed(1)} min: ${made} calls, ${ended} ended, ${kills.length} kills`);
}

// The end: callers finish what they have begun; then nothing may be left.
load.stop();
isOver = true;
await chaotic;
const isQuiet = await Promise.race([
  Promise.all(callers).then(() => true),
  pause(90).then(() => false),
]);
await sandbox.dispose();
clearInterval(sampling);
sample();
await Promise.all(hosts.map((host) => host.stop()));
await pause(2);
const processesLeft = [...seen.values()].filter(isSame);
const directoriesLeft = hosts.flatMap(({ temporary }) => readdirSync(temporary));
for (const { temporary } of hosts) rmSync(temporary, { recursive: true, force: true });

/** The 90th percentile of samples: kills make holes, which a mean would hide growth in. */
const height = (values) =>
  [...values].sort((a, b) => a - b)[Math.floor(0.9 * (values.length - 1))] ?? 0;
const third = Math.floor(samples.length / 3);
/** How the last third compares with the middle one, of the service that was never restarted. */
function growth(key) {
  const value = (part) => height(part.map((one) => one[key]));
  const [middle, last] = [value(samples.slice(third, 2 * third)), value(samples.slice(2 * third))];
  return { middle, last, ratio: middle === 0 ? (last === 0 ? 1 : last) : last / middle };
}
const plateau = Object.fromEntries(
  ['descriptors', 'nodeBytes', 'treeBytes', 'processes', 'directories', 'driverBytes'].map(
    (key) => [key, growth(key)],
  ),
);
const seconds = load.seconds.sort((a, b) => a - b);
const at = (share) => seconds[Math.floor(share * (seconds.length - 1))] ?? 0;
const broken = [
  ...load.wrong,
  ...(isQuiet && load.counts.made === load.counts.ended ? [] : ['some calls never ended']),
  ...(processesLeft.length === 0 ? [] : [`${processesLeft.length} processes are left`]),
  ...(directoriesLeft.length === 0 ? [] : [`directories are left: ${directoriesLeft.join(', ')}`]),
  ...Object.entries(plateau).flatMap(([key, { ratio, last, middle }]) =>
    // Small numbers of processes and directories vary by a few.
    ratio > 1.3 && last - middle > 8 ? [`${key} grew ${ratio.toFixed(2)} times`] : [],
  ),
];
const result = {
  minutes: lasts,
  tier: sandbox.tier,
  callers: Number(flags.callers) + 2,
  machine: `${cpus()[0]?.model.trim()}, ${cpus().length} processors`,
  loadAverage: loadavg().map((value) => Number(value.toFixed(1))),
  note: flags.note,
  calls: load.counts,
  callsPerSecond: load.counts.ended / (lasts * 60),
  callSeconds: { p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) },
  kills: Object.fromEntries(
    ['worker', 'server', 'node', 'drain'].map((kind) => [
      kind,
      kills.filter(({ what }) => what === kind).length,
    ]),
  ),
  plateau,
  left: { processes: processesLeft.length, directories: directoriesLeft.length },
  broken,
};
const results = join(here, '../results');
mkdirSync(results, { recursive: true });
const rounded = samples.map((one) =>
  Object.fromEntries(Object.entries(one).map(([key, value]) => [key, Number(value.toFixed(3))])),
);
const every = Math.max(1, Math.floor(rounded.length / 150));
const kept = rounded.filter((_, index) => index % every === 0);
writeFileSync(
  join(results, 'soak.json'),
  `${JSON.stringify({ ...result, samples: kept }, null, 1)}\n`,
);
const line = (label, key, unit = 1) => ({
  label,
  values: kept.map((one) => [one.minutes, one[key] / unit]),
});
writeFileSync(
  join(results, 'soak.svg'),
  drawCharts(
    `Soak: ${lasts} min, ${load.counts.ended} calls, ${kills.length} kills (red: Node of the other service)`,
    [
      {
        title: 'Memory, MiB',
        series: [
          line('Node of the service', 'nodeBytes', 2 ** 20),
          line('servers and sessions', 'treeBytes', 2 ** 20),
          line('client', 'driverBytes', 2 ** 20),
        ],
      },
      {
        title: 'Descriptors of the service, processes below it',
        series: [line('descriptors', 'descriptors'), line('processes', 'processes')],
      },
      {
        title: 'Processes without a service, temporary directories',
        series: [line('strays', 'strays'), line('directories', 'directories')],
      },
      { title: 'Calls ended', series: [line('calls', 'ended')] },
    ],
    kills.map((kill) => ({ minutes: kill.minutes, isNode: kill.what === 'node' })),
  ),
);
console.log(JSON.stringify({ ...result, calls: load.counts }, null, 1));
process.exit(broken.length === 0 ? 0 : 1);
