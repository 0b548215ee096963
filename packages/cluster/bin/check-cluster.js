#!/usr/bin/env node
/**
 * Plays the whole life of a cluster with real Ray and the real command: mistakes, two ranks, an engine, two
 * sandboxes, training, whatever can be killed, and the end.
 *
 *   node packages/cluster/bin/check-cluster.js --python PY [--only mistakes,hosts,training,losses]
 *
 * PY has `pip install './workers/torch[ray]'`. Prints a line for each check, and "The cluster holds." if none
 * failed. Takes some ten minutes of two processors.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ALL = 'mistakes,hosts,training,losses';
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    only: { type: 'string', default: ALL },
    keep: { type: 'boolean', default: false },
  },
});
const python = values.python.includes('/') ? resolve(values.python) : values.python;
const only = values.only.split(',');
const cli = join(dirname(fileURLToPath(import.meta.url)), '../../cli/bin/saccade.js');
const folder = mkdtempSync(join(tmpdir(), 'saccade-cluster-'));
let failures = 0;

function check(sentence, isSo, detail = '') {
  console.log(
    `${isSo ? 'ok  ' : 'FAIL'} ${sentence}${isSo || detail === '' ? '' : `\n     ${detail}`}`,
  );
  if (!isSo) failures += 1;
}

/** Runs the command to its end. */
function saccade(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return { status, stdout, stderr, said: `${stdout}${stderr}`.trim() };
}

/** One sentence for a mistake: status, words, and no stack. */
function refuses(words, status, pattern) {
  const answer = saccade(...words);
  const isClean = !/\n\s+at /.test(answer.said) && answer.said.split('\n').length <= 2;
  const isSo = answer.status === status && pattern.test(answer.said) && isClean;
  check(
    `saccade ${words.join(' ')}: ${answer.said.slice(0, 160)}`,
    isSo,
    `${answer.status} ${answer.said}`,
  );
}

function look(name = 'check') {
  const { stdout } = saccade('cluster', 'status', '--name', name, '--json');
  return JSON.parse(stdout);
}

const partOf = (name) => look().parts.find((part) => part.name === name);

async function until(isSo, seconds) {
  const end = Date.now() + 1000 * seconds;
  while (Date.now() < end) {
    if (isSo()) return true;
    await new Promise((wake) => setTimeout(wake, 1000));
  }
  return false;
}

/** Processes that carry the mark of a cluster. */
function living(name = 'check') {
  const plan = join(folder, 'clusters', name, 'plan.json');
  if (!existsSync(plan)) return [];
  const mark = `SACCADE_CLUSTER_ID=${JSON.parse(readFileSync(plan, 'utf8')).id}`;
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

function write(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const head = `name: check\nray: { python: ${python} }\n`;
const oneHost = 'sandboxes: { options: [--servers, 1] }\n';
const whole = `${head}
worker:
  model: policy
  ranks: 2
  options: [--device, cpu, --threads, 1]
engines: { options: [--threads, 1] }
sandboxes: { count: 2, options: [--servers, 1] }
`;

/** One host that others may reach, which needs no model and no training. */
async function hosts() {
  write(
    'host.yaml',
    `${head.replace('}', ', listen: all }')}${oneHost}limits: { hangSeconds: 20 }\n`,
  );
  const up = saccade('cluster', 'up', 'host.yaml');
  check('up starts a host that others reach', up.status === 0, up.said);
  const { url, pids } = partOf('sandbox-0');
  const strangers = await fetch(`${url}/v1/sessions`, { method: 'POST', body: '{}' });
  check(`it refuses whoever has no secret: ${strangers.status}`, strangers.status === 401);
  const { stdout } = saccade('cluster', 'metrics');
  check(
    'metrics knows the secret',
    /saccade_cluster_up\{.*\} 1/.test(stdout),
    stdout.slice(0, 500),
  );
  process.kill(pids[0], 'SIGKILL');
  const isBack = (count) => () =>
    partOf('sandbox-0').restarts >= count && partOf('sandbox-0').state === 'healthy';
  check('killed, it comes back', await until(isBack(1), 300), JSON.stringify(partOf('sandbox-0')));
  const again = partOf('sandbox-0');
  check(`at the same address, ${again.url}`, again.url === url && again.pids[0] !== pids[0]);
  process.kill(again.pids[0], 'SIGSTOP');
  const isSilent = () => partOf('sandbox-0').state === 'unhealthy';
  check('stopped, it is unhealthy', await until(isSilent, 60), JSON.stringify(partOf('sandbox-0')));
  check('and started again', await until(isBack(2), 300), JSON.stringify(partOf('sandbox-0')));
  process.kill(look().supervisorPid, 'SIGKILL');
  const lost = saccade('cluster', 'status');
  const isTold = lost.status === 1 && /has lost its supervisor/.test(lost.said);
  check('without its supervisor it is lost', isTold, lost.said);
  const down = saccade('cluster', 'down');
  check(
    `down cleans up: ${down.said}`,
    down.status === 0 && living().length === 0,
    living().join(' '),
  );
  check('down twice does nothing', /was down already/.test(saccade('cluster', 'down').said));
}

async function mistakes() {
  refuses(['cluster', 'status'], 1, /There is no cluster in .*Start one with/);
  refuses(['cluster', 'down'], 1, /There is no cluster/);
  refuses(['cluster', 'submit', 'smoke'], 1, /There is no cluster/);
  refuses(['cluster', 'up'], 2, /There is no cluster file cluster.yaml/);
  write('broken.yaml', 'worker: {');
  refuses(['cluster', 'up', 'broken.yaml'], 1, /cannot be read as YAML or JSON/);
  write('typo.yaml', `${head}sandboxs: { count: 1 }\n`);
  refuses(
    ['cluster', 'up', 'typo.yaml'],
    2,
    /There is no setting sandboxs of a cluster. Did you mean sandboxes/,
  );
  write('ray.yaml', 'ray: { python: /nowhere/python3 }\nsandboxes: {}\n');
  refuses(['cluster', 'up', 'ray.yaml'], 1, /There is no Python at \/nowhere\/python3/);
  const plain = spawnSync('python3', ['-c', 'import ray']).status !== 0 ? 'python3' : undefined;
  if (plain === undefined) console.log('skip a Python without Ray: this python3 has it');
  else {
    write('plain.yaml', 'sandboxes: {}\n');
    refuses(
      ['cluster', 'up', 'plain.yaml', '--python', plain],
      1,
      /has no Ray. Run: python3 -m pip install/,
    );
  }
  const server = createServer();
  await new Promise((wake) => server.listen(0, '127.0.0.1', wake));
  const { port } = server.address();
  write('port.yaml', `${head}sandboxes: { port: ${port} }\n`);
  const taken = saccade('cluster', 'up', 'port.yaml');
  server.close();
  check(
    `a port in use: ${taken.said.split('\n').at(-1)}`,
    taken.status === 1 && new RegExp(`sandbox-0 cannot have port ${port}.*in use`).test(taken.said),
    taken.said,
  );
  check('nothing is left of it', living().length === 0, living().join(' '));
  write('model.yaml', `${head}worker: { model: ., ranks: 1 }\n`);
  const model = saccade('cluster', 'up', 'model.yaml');
  check(
    `a worker that cannot start: ${model.said.split('\n').at(-1)}`,
    model.status === 1 &&
      /worker ended with status 2. It said: .*cannot be served/.test(model.said),
    model.said,
  );
  check('nothing is left of that', living().length === 0, living().join(' '));
  refuses(['cluster', 'submit', 'smoke'], 1, /Cluster check is not up/);
}

function start() {
  const up = saccade('cluster', 'up', 'whole.yaml', '--local');
  check('up starts two ranks, an engine and two sandboxes', up.status === 0, up.said);
  const { phase, parts } = look();
  const rows = parts.map((part) => `${part.name} ${part.state} ${part.url}`).join(', ');
  check(`status: ${rows}`, phase === 'up' && parts.length === 4, JSON.stringify(parts));
  check(
    'each has an address, processes and a last line',
    parts.every(({ url, pids, lastLine }) => url !== null && pids.length > 0 && lastLine !== ''),
  );
  const again = saccade('cluster', 'up', 'whole.yaml');
  check(
    'up twice does nothing',
    again.status === 0 && /Nothing to do/.test(again.said),
    again.said,
  );
  write('other.yaml', `${head}sandboxes: { count: 1 }\n`);
  refuses(['cluster', 'up', 'other.yaml'], 2, /A cluster check is up from another file/);
}

const submission = ['cluster', 'submit', 'smoke', '--steps', '2', '--set', 'sft.updates=4'];

function training() {
  const done = saccade(...submission, '--out', 'run');
  check(
    'submit trains and follows',
    done.status === 0 && /Held-out accuracy/.test(done.said),
    done.said.slice(-2000),
  );
  const config = JSON.parse(readFileSync(join(folder, 'run/config.json'), 'utf8'));
  const used = JSON.stringify(config.config ?? config);
  const isRemote = /"name":"remote"/.test(used) && /"name":"http"/.test(used);
  check('on the worker, the engine and the sandboxes', isRemote, used.slice(0, 600));
  const { stdout } = saccade('cluster', 'metrics');
  const up = stdout.split('\n').filter((line) => /^saccade_cluster_up\{.*\} 1$/.test(line));
  check('metrics has all parts', up.length === 4, stdout.slice(0, 1000));
  const opened = stdout.match(/^saccade_sandbox_sessions_total\{.*\} (\d+)$/gm) ?? [];
  check(
    'both sandboxes had sessions',
    opened.length === 2 && opened.every((row) => !/ 0$/.test(row)),
    opened.join(' '),
  );
  const logs = saccade('cluster', 'logs', 'job-1', '-n', '2');
  check('logs has the job', /Report: /.test(logs.stdout), logs.said);
}

async function losses() {
  const addresses = Object.fromEntries(look().parts.map(({ name, url }) => [name, url]));
  const job = saccade(...submission, '--out', 'lossy', '--no-follow', '--json');
  const { name } = JSON.parse(job.stdout);
  const log = join(folder, 'clusters/check/logs', `${name}.log`);
  await until(() => readFileSync(log, 'utf8').includes('learning'), 600);
  process.kill(partOf('worker').pids[1], 'SIGKILL');
  process.kill(partOf('sandbox-1').pids[0], 'SIGKILL');
  const isOver = () => look().jobs.find((each) => each.name === name).state !== 'running';
  check('a run ends though a rank and a sandbox are killed', await until(isOver, 900));
  const { state } = look().jobs.find((each) => each.name === name);
  check(
    `with exit status 0: ${state}`,
    state === 'finished',
    readFileSync(log, 'utf8').slice(-3000),
  );
  process.kill(partOf('engine-0').pids[0], 'SIGKILL');
  await until(() => partOf('engine-0').state !== 'healthy', 60);
  check(
    'all parts come back',
    await until(() => look().phase === 'up', 400),
    JSON.stringify(look()),
  );
  const back = look().parts;
  const isSame = back.every(({ name: part, url }) => url === addresses[part]);
  check('at the same addresses', isSame, JSON.stringify([addresses, back]));
  const counts = back.map(({ name: part, restarts }) => `${part} ${restarts}`).join(', ');
  check(
    `restarts are counted: ${counts}`,
    ['worker', 'engine-0', 'sandbox-1'].every(
      (part) => back.find((each) => each.name === part).restarts >= 1,
    ),
  );
}

async function end() {
  const follower = spawn(process.execPath, [cli, ...submission, '--out', 'stopped'], {
    cwd: folder,
  });
  let said = '';
  follower.stdout.on('data', (text) => {
    said += text;
  });
  await until(() => said.includes('cold start'), 300);
  follower.kill('SIGINT');
  await new Promise((wake) => follower.once('exit', wake));
  const job = look().jobs.at(-1);
  check('Ctrl-C leaves the job running', job.state === 'running', job.state);
  const down = saccade('cluster', 'down');
  check(
    `down: ${down.said}`,
    down.status === 0 && down.said.includes(`${job.name} stopped`),
    down.said,
  );
  check('no process is left', living().length === 0, living().join(' '));
  check('down twice does nothing', /was down already/.test(saccade('cluster', 'down').said));
  refuses(['cluster', 'status', '--name', 'none'], 1, /There is no cluster none/);
}

try {
  write('whole.yaml', whole);
  if (only.includes('mistakes')) await mistakes();
  if (only.includes('hosts')) await hosts();
  if (only.includes('training') || only.includes('losses')) {
    const made = saccade(
      'train',
      'smoke',
      '--steps',
      '1',
      '--set',
      'sft.updates=4',
      '--out',
      'seed',
    );
    const steps = join(folder, 'seed/checkpoints');
    if (made.status !== 0) throw new Error(`No policy to begin with: ${made.said}`);
    const newest = readdirSync(steps).sort().at(-1);
    spawnSync('cp', ['-r', join(steps, newest, 'policy'), join(folder, 'policy')]);
    start();
    if (only.includes('training')) training();
    if (only.includes('losses')) await losses();
    await end();
  }
} catch (error) {
  check(`nothing unexpected: ${error}`, false, String(error?.stack));
} finally {
  saccade('cluster', 'down', '--name', 'check');
  if (values.keep || failures > 0) console.log(`Files stay in ${folder}.`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'The cluster holds.' : `${failures} checks failed.`);
process.exitCode = failures === 0 ? 0 : 1;
