/**
 * Everything a clone needs before anything runs: dependencies, native addon, compiled TypeScript,
 * the sandbox's Python environment. A step whose inputs have not changed is skipped.
 *
 *   node scripts/setup.mjs
 *
 * Plain Node and nothing else: on a fresh clone it runs before there is a node_modules.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');
const installStamp = join(cache, 'dependencies.sha256');

/** Something is missing or a step failed; the message says what to do. */
export class SetupError extends Error {}

/** Whether a Node version can run Saccade: ^20.19.0 or >=22.12.0, as in package.json. */
export function isNodeRecentEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
}

/** Whether a command runs and succeeds. */
function canRun(command, args = ['--version']) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** The tools that this machine lacks, one line each, so that all can be installed at once. */
export function findMissing(isThere = canRun) {
  const missing = [];
  const need = (what, debian, mac) =>
    missing.push(`${what}. Debian, Ubuntu: sudo apt-get install ${debian}. macOS: ${mac}.`);
  const recent = ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'];
  const pythons = ['python3', '/usr/bin/python3', '/usr/local/bin/python3'];
  if (!pythons.some((python) => isThere(python, recent))) {
    need('Python 3.10 or newer with venv', 'python3 python3-venv', 'brew install python');
  }
  if (!isThere('cmake')) need('CMake', 'cmake', 'brew install cmake');
  const compilers = [process.env.CXX, 'c++', 'g++', 'clang++'];
  if (!compilers.some((compiler) => compiler && isThere(compiler))) {
    need('a C++17 compiler', 'g++', 'xcode-select --install');
  }
  if (!['ninja', 'make'].some((tool) => isThere(tool))) {
    need('make', 'make', 'xcode-select --install');
  }
  return missing;
}

/** Runs a command quietly; what it said is shown only if it fails. */
function run(what, command, args) {
  return new Promise((resolve, reject) => {
    // CI keeps pnpm from asking questions.
    const env = { ...process.env, CI: process.env.CI ?? 'true' };
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => reject(new SetupError(`${what} failed: ${error.message}.`)));
    child.on('close', (code) => {
      if (code === 0) return resolve();
      const tail = output.trimEnd().split('\n').slice(-40).join('\n');
      reject(new SetupError(`${tail}\n\n${what} failed; the output above says why.`));
    });
  });
}

/** Steps that run now, by name: when they began, in milliseconds, and how much is done, in percent. */
const running = new Map();
const isTerminal = process.stderr.isTTY === true;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const secondsSince = (start) => Math.round((performance.now() - start) / 1000);

/** One line over the last one, with the steps that run; on a terminal only. */
function showRunning(frame) {
  if (!isTerminal) return;
  const shown = [...running].map(([name, { start, percent }]) => {
    const done = percent === undefined ? '' : ` ${percent} %,`;
    return `${name}:${done} ${secondsSince(start)} s`;
  });
  const line = shown.length === 0 ? '' : `${FRAMES[frame % FRAMES.length]} ${shown.join(' · ')}`;
  const width = process.stderr.columns ?? 80;
  process.stderr.write(`\r\x1b[K${line.slice(0, width - 1)}`);
}

/** Says something on a line of its own, above the one that shows what runs. */
function say(line) {
  if (isTerminal) process.stderr.write('\r\x1b[K');
  console.error(line);
}

/**
 * Does a step and says so on one line, if there was anything to do.
 *
 * @param doing  what it does, shown while it runs
 * @param done   what it has done
 * @param work   gives 'fresh' if there was nothing to do; called with a function that takes percent
 */
async function step(doing, done, work) {
  const state = { start: performance.now(), percent: undefined };
  running.set(doing, state);
  let frame = 0;
  const spinner = isTerminal ? setInterval(() => showRunning(frame++), 100) : undefined;
  spinner?.unref();
  try {
    const result = await work((percent) => {
      state.percent = percent;
    });
    if (result !== 'fresh') say(`setup: ${done} (${secondsSince(state.start)} s)`);
  } finally {
    clearInterval(spinner);
    running.delete(doing);
    if (running.size === 0) showRunning(0);
  }
}

/** A digest of the files the dependencies follow from. */
function hashManifests() {
  const packages = readdirSync(join(root, 'packages')).sort();
  const folders = ['.', 'native', 'bench', ...packages.map((name) => join('packages', name))];
  const manifests = folders.map((folder) => join(folder, 'package.json'));
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) {
    const path = join(root, name);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

function isInstalled() {
  return existsSync(join(root, 'node_modules')) && existsSync(installStamp);
}

async function installDependencies() {
  const wanted = hashManifests();
  if (isInstalled() && readFileSync(installStamp, 'utf8') === wanted) return 'fresh';
  const pnpm = ['-y', 'pnpm@12', 'install', '--frozen-lockfile'];
  await run('Installing the dependencies', 'npx', pnpm);
  mkdirSync(cache, { recursive: true });
  writeFileSync(installStamp, wanted);
  return 'done';
}

async function buildNative(onProgress) {
  const { buildAddon } = await import(pathToFileURL(join(root, 'native', 'build.mjs')).href);
  return await buildAddon({ onProgress });
}

/** A digest of what the compiler is told: its version and all options. */
function hashCompilerOptions() {
  const hash = createHash('sha256');
  const compiler = join(root, 'node_modules', 'typescript', 'package.json');
  for (const path of [compiler, join(root, 'tsconfig.base.json'), ...listTsconfigs()]) {
    // A package's references say nothing about the files that were compiled.
    const { references: _, ...options } = JSON.parse(readFileSync(path, 'utf8'));
    hash.update(relative(root, path)).update(JSON.stringify(options));
  }
  return hash.digest('hex');
}

function listTsconfigs() {
  const below = (folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder)).map((name) => join(folder, name))
      : [];
  return [...below('packages'), ...below('kernels'), 'bench', ...below('examples')]
    .map((folder) => join(root, folder, 'tsconfig.json'))
    .filter(existsSync)
    .sort();
}

/**
 * Forgets what was compiled if the compiler or its options changed: the compiler would go on
 * reporting errors that it found with the old ones.
 */
export function forgetOldBuilds(stamp = join(cache, 'compiled-with.sha256')) {
  const wanted = hashCompilerOptions();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
  for (const path of listTsconfigs()) {
    rmSync(join(dirname(path), 'dist', '.tsbuildinfo'), { force: true });
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  return true;
}

/**
 * Compiles what changed; tsc keeps its own stamps, but does not tell whether it did anything. One checker
 * for each package: several of them check the types that packages share once more each.
 */
async function compileTypeScript() {
  forgetOldBuilds();
  const wasThere = existsSync(join(root, 'packages', 'cli', 'dist', 'index.js'));
  await run('Compiling the TypeScript', join(root, 'node_modules', '.bin', 'tsc'), [
    '-b',
    '--checkers',
    '1',
  ]);
  return wasThere ? 'fresh' : 'done';
}

async function preparePython(onProgress) {
  const module = join(root, 'packages', 'sandbox', 'dist', 'index.js');
  const { ensurePython } = await import(pathToFileURL(module).href);
  let result = 'fresh';
  const onEvent = ({ done, total }) => {
    result = 'done';
    if (total > 0) onProgress(Math.round((100 * done) / total));
  };
  await ensurePython(join(cache, 'sandbox-venv'), { onEvent });
  return result;
}

/** Whether a first set-up has been through; not whether it is up to date. */
export function isSetUp() {
  const built = ['native/build/Release/saccade.node', 'packages/cli/dist/index.js'];
  return isInstalled() && built.every((path) => existsSync(join(root, path)));
}

/** One set-up at a time; that of a process which is gone is taken over. */
async function locked(work) {
  const lock = join(cache, 'setup.lock');
  mkdirSync(cache, { recursive: true });
  for (let isFirst = true; ; isFirst = false) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else {
      if (isFirst) say('setup: waiting for another set-up of this clone …');
      await new Promise((wake) => setTimeout(wake, 300));
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAbandoned(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Brings the clone up to date. @throws SetupError, or a step's own error with its remedy */
export async function setUp() {
  if (!isNodeRecentEnough(process.versions.node)) {
    throw new SetupError(
      `Saccade needs Node ^20.19 or >=22.12, this is ${process.versions.node}. ` +
        'Install a newer one from https://nodejs.org and run this again.',
    );
  }
  if (!isSetUp()) {
    const missing = findMissing();
    if (missing.length > 0) {
      const list = missing.map((line) => `  - ${line}`).join('\n');
      throw new SetupError(`this machine lacks\n${list}\nInstall that, then run this again.`);
    }
    say('setup: the first time takes a few minutes …');
  }
  await step('dependencies', 'dependencies installed', installDependencies);
  const theRest = async () => {
    await step('TypeScript', 'TypeScript compiled', compileTypeScript);
    await step('Python environment', 'Python environment of the sandbox made', preparePython);
  };
  await Promise.all([step('native kernels', 'native kernels built', buildNative), theRest()]);
}

/** `setUp` for a command line: an error becomes a message and exit status 1. */
export async function setUpOrExit() {
  try {
    await locked(setUp);
  } catch (error) {
    console.error(`setup: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setUpOrExit();
