// Callers of one service, half of whose sessions are attacks, in turns with the same callers when all
// are honest; then the same with parts killed:
//   node packages/sandbox/bin/soak-hostile.js [--minutes 10] [--isolation bubblewrap] [--callers 8]
// Writes results/soak-hostile.json. Ends with status 1 if a promise was broken: each call ends once,
// honest calls give what they should and take at most twice as long (p95), nothing grows, and no
// process, directory or control group is left after SIGKILL of any part.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensurePython, openRemoteSandbox } from '../dist/index.js';
import { HostileLoad } from './soak/hostile-load.js';
import { descriptorsOf, isSame, rssOf, treeOf } from './soak/processes.js';

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    isolation: { type: 'string', default: 'auto' },
    callers: { type: 'string', default: '8' },
    note: { type: 'string', default: '' },
  },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const { python } = await ensurePython(join(here, '../../../.cache/sandbox-venv'));
const pause = (seconds) => new Promise((wake) => setTimeout(wake, seconds * 1000));
const lasts = Number(flags.minutes);
const callers = Number(flags.callers);
const temporary = mkdtempSync(join(tmpdir(), 'saccade-soak-hostile-'));
/** A place for each caller: code that only its time ends must not keep others waiting. */
const options = {
  // Attacks are to run, not to be refused by their words.
  forbidden: [],
  servers: 2,
  maxSessions: 4 * callers,
  maxRunning: callers,
  limits: {
    wallSeconds: 3,
    cpuSeconds: 2,
    memoryBytes: 768 * 2 ** 20,
    sessionMemoryBytes: 256 * 2 ** 20,
    diskBytes: 16 * 2 ** 20,
    fileBytes: 8 * 2 ** 20,
  },
};

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const port = await freePort();
const url = `http://127.0.0.1:${port}`;
/** Numbers of all services' processes: control groups bear them. */
const servicePids = [];
let service;
let isOver = false;

async function startService() {
  const args = [join(here, 'soak/service.js'), python, flags.isolation, String(port)];
  const child = spawn(process.execPath, [...args, JSON.stringify(options)], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  servicePids.push(child.pid);
  const ended = new Promise((done) => child.once('exit', done));
  const ready = Promise.race([new Promise((done) => child.stdout.once('data', done)), ended]);
  service = { child, ended, ready };
  void ended.then(() => !isOver && startService());
  await ready;
}

await startService();
const sandbox = await openRemoteSandbox({ hosts: [url], checkSeconds: 1, patienceSeconds: 60 });
// The facts about the machine that attacks get. Nothing of it can be reached.
const facts = { HOST_FILE: '/nowhere/file', HOST_IMAGE: '/nowhere/image.png', HOST_PORT: 9 };
const more = { HOST_SOCKET: 'nobody', HOST_POST: '/nowhere/post', NODE: 20 };
const numbers = { SERVER: 4_000_000, VICTIM: 4_000_001, VICTIM_DIRECTORY: '/nowhere' };
const load = new HostileLoad(sandbox, { ...facts, ...more, ...numbers });

const seen = new Map();
const samples = [];
function look() {
  const tree = treeOf(service.child.pid);
  for (const one of tree) seen.set(`${one.pid} ${one.start}`, one);
  return tree;
}
function sample() {
  const tree = look();
  samples.push({
    descriptors: descriptorsOf(service.child.pid),
    nodeBytes: rssOf(service.child.pid),
    // Memory that code holds comes and goes; the rest is the servers' own.
    serverBytes: tree.slice(1).reduce((sum, { pages }) => sum + pages * 4096, 0),
    processes: tree.length,
    directories: readdirSync(temporary).length,
  });
}

const running = Array.from({ length: callers }, () => load.run());
const at = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0;

/** Honest calls of a phase: how many, and their seconds. */
async function phase(hostileShare, minutes) {
  load.hostileShare = hostileShare;
  await pause(5); // calls of the phase before end
  load.measure();
  const begin = { ...load.counts };
  const timer = hostileShare > 0 ? setInterval(sample, 2_000) : undefined;
  await pause(minutes * 60);
  clearInterval(timer);
  const seconds = [...load.seconds];
  const calls = load.counts.ended - begin.ended;
  console.log(
    `${hostileShare > 0 ? 'hostile' : 'quiet'}: ${calls} calls, ${seconds.length} honest, ` +
      `p50 ${(at(seconds, 0.5) * 1000).toFixed(0)} ms, p95 ${(at(seconds, 0.95) * 1000).toFixed(0)} ms, ` +
      `load ${loadavg()[0].toFixed(1)}`,
  );
  return { hostileShare, minutes, calls, seconds, load: Number(loadavg()[0].toFixed(1)) };
}

await phase(0, 0.2); // warms up
const phases = [];
const quiet = Math.max(0.3, lasts / 20);
for (let turn = 0; turn < 4; turn++) {
  phases.push(await phase(0, quiet));
  phases.push(await phase(0.5, lasts / 4));
}

// Each part is killed while hostile code runs.
const kills = {};
load.isUnderKills = true;
load.hostileShare = 0.5;
for (let round = 0; round < 2; round++) {
  for (const what of ['worker', 'nursery', 'supervisor', 'service']) {
    await pause(4);
    const victim = partOf(what, look());
    if (victim === undefined) continue;
    try {
      process.kill(victim.pid, 'SIGKILL');
      kills[what] = (kills[what] ?? 0) + 1;
    } catch {
      continue; // it ended by itself a moment ago
    }
    if (what === 'service') await restarted(victim.pid);
  }
}

/** Resolves when a service is ready that is not this one. */
async function restarted(pid) {
  for (let wait = 0; service.child.pid === pid && wait < 100; wait++) await pause(0.1);
  await Promise.race([service.ready, pause(60)]);
}

/** The first child that a supervisor starts forks all the others. */
function partOf(what, tree) {
  if (what === 'service') return tree[0];
  const isPython = ({ name }) => name.startsWith('python');
  const below = (one) => tree.filter(({ parent }) => parent === one.pid);
  const supervisors = tree.filter((one) => isPython(one) && below(one).some(isPython));
  const [supervisor] = supervisors;
  if (supervisor === undefined || what === 'supervisor') return supervisor;
  const children = below(supervisor).sort((a, b) => Number(a.start) - Number(b.start));
  return what === 'nursery' ? children[0] : children.at(-1);
}

load.stop();
const isQuiet = await Promise.race([
  Promise.all(running).then(() => true),
  pause(90).then(() => false),
]);
await sandbox.dispose();
// One more SIGKILL of the service: the next start removes what it left, and its own end the rest.
look();
const last = service.child.pid;
service.child.kill('SIGKILL');
await restarted(last);
look();
isOver = true;
service.child.kill('SIGTERM');
await Promise.race([service.ended, pause(30)]);
await pause(3);
const processesLeft = [...seen.values()].filter(isSame);
const directoriesLeft = readdirSync(temporary);
const groupsLeft = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'saccade-*'])
  .toString()
  .split('\n')
  .filter((path) => servicePids.some((pid) => path.includes(`-${pid}-`)));
rmSync(temporary, { recursive: true, force: true });

const third = Math.floor(samples.length / 3);
const plateau = Object.fromEntries(
  Object.keys(samples[0] ?? {}).map((key) => {
    const height = (part) =>
      at(
        part.map((one) => one[key]),
        0.9,
      );
    const [middle, last] = [
      height(samples.slice(third, 2 * third)),
      height(samples.slice(2 * third)),
    ];
    return [key, { middle, last, ratio: Number((last / Math.max(1, middle)).toFixed(3)) }];
  }),
);
const summary = (share) => {
  const own = phases.filter(({ hostileShare }) => hostileShare === share);
  const seconds = own.flatMap((one) => one.seconds);
  return {
    calls: own.reduce((sum, { calls }) => sum + calls, 0),
    honestCalls: seconds.length,
    seconds: { p50: at(seconds, 0.5), p95: at(seconds, 0.95), p99: at(seconds, 0.99) },
    p95OfTurns: own.map((one) => at(one.seconds, 0.95)),
    loadOfTurns: own.map((one) => one.load),
  };
};
const [calm, hostile] = [summary(0), summary(0.5)];
const slowdown = hostile.seconds.p95 / calm.seconds.p95;
const broken = [
  ...load.wrong,
  ...(isQuiet && load.counts.made === load.counts.ended ? [] : ['some calls never ended']),
  ...(slowdown <= 2 ? [] : [`honest calls take ${slowdown.toFixed(2)} times as long (p95)`]),
  ...(processesLeft.length === 0 ? [] : [`${processesLeft.length} processes are left`]),
  ...(directoriesLeft.length === 0 ? [] : [`directories are left: ${directoriesLeft.join(', ')}`]),
  ...(groupsLeft.length === 0 ? [] : [`control groups are left: ${groupsLeft.join(', ')}`]),
  ...['descriptors', 'nodeBytes', 'directories'].flatMap((key) => {
    const { middle, last, ratio } = plateau[key];
    return ratio > 1.3 && last - middle > 8 ? [`${key} grew ${ratio} times`] : [];
  }),
];
const result = {
  minutes: lasts,
  tier: sandbox.tier,
  callers,
  options,
  machine: `${cpus()[0]?.model.trim()}, ${cpus().length} processors`,
  note: flags.note,
  quiet: calm,
  hostile,
  slowdown: Number(slowdown.toFixed(2)),
  calls: load.counts,
  kills,
  plateau,
  left: {
    processes: processesLeft.length,
    directories: directoriesLeft.length,
    controlGroups: groupsLeft.length,
  },
  broken,
};
const results = join(here, '../results');
mkdirSync(results, { recursive: true });
writeFileSync(join(results, 'soak-hostile.json'), `${JSON.stringify(result, null, 1)}\n`);
console.log(JSON.stringify(result, null, 1));
process.exit(broken.length === 0 ? 0 : 1);
