// Brings a clone to where it can train and be tested: dependencies, native addon, compiled
// packages, the sandbox's Python. Plain Node, no dependencies; a second call takes a second or two.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');

/** One sentence for the fact, one for the remedy, and out. */
function stop(fact, remedy) {
  console.error(`set-up: ${fact}\n        ${remedy}`);
  process.exit(1);
}

function say(text) {
  console.error(`set-up: ${text}`);
}

function run(command, args, what) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (result.status === 0) return;
  console.error(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  stop(
    `${what} failed (${result.error?.message ?? `exit ${result.status}`}).`,
    'See the output above.',
  );
}

function canRun(command, args = ['--version']) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function checkMachine() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    stop(`Node ${process.versions.node} is too old.`, 'Install Node 20.19 or newer: nodejs.org.');
  }
  const python = ['python3', 'python'].find((name) =>
    canRun(name, ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']),
  );
  if (python === undefined) {
    stop(
      'There is no Python 3.10 or newer with venv, which the sandbox runs.',
      'Debian/Ubuntu: apt install python3 python3-venv. macOS: brew install python.',
    );
  }
  if (!canRun('cmake')) {
    stop(
      'There is no CMake, which builds the native kernels.',
      'Debian/Ubuntu: apt install cmake. macOS: brew install cmake.',
    );
  }
  if (![process.env.CXX, 'c++', 'g++', 'clang++'].some((name) => name && canRun(name))) {
    stop(
      'There is no C++ compiler, which builds the native kernels.',
      'Debian/Ubuntu: apt install g++. macOS: xcode-select --install.',
    );
  }
}

/** A hash of what the dependencies follow from. */
function dependencyHash() {
  const hash = createHash('sha256');
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name));
  for (const folder of ['.', 'native', 'bench', ...packages.sort()]) {
    const file = join(root, folder, 'package.json');
    if (existsSync(file)) hash.update(readFileSync(file));
  }
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function installDependencies() {
  const stamp = join(cache, 'dependencies.sha256');
  const hash = dependencyHash();
  const isFresh =
    existsSync(join(root, 'node_modules')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === hash;
  if (isFresh) return;
  say('installing dependencies');
  run('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile'], 'pnpm install');
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, hash);
}

checkMachine();
installDependencies();
run(process.execPath, [join(root, 'native', 'build.mjs')], 'The build of the native kernels');
run(join(root, 'node_modules', '.bin', 'tsc'), ['-b'], 'tsc -b');
const { ensurePython } = await import('../packages/sandbox/dist/index.js');
try {
  await ensurePython(join(cache, 'sandbox-venv'), {
    onEvent: (event) => {
      if (event.kind === 'progress') say(event.stage);
      if (event.kind === 'warning') say(event.message);
    },
  });
} catch (error) {
  stop('The Python environment of the sandbox could not be made.', error.message);
}
