#!/usr/bin/env node
/**
 * Builds the addon if its sources, the compiler or the build tool changed since the last time.
 *
 *   node native/build.mjs           silent when there is nothing to do
 *   node native/build.mjs --tests   and what only tests want: all instruction sets that run here, and
 *                                   the CUDA kernels for the CPU
 *
 * The CPU kernels are compiled for the best instruction set that this processor has. Another processor
 * may lack it; there this builds once more.
 *
 * Kernels for CUDA devices take minutes, so they are built where there is such a device and nvcc.
 * SACCADE_CUDA=ON builds them without a device, SACCADE_CUDA=OFF leaves them out.
 *
 * A hash of the sources is stored beside the addon, so calling this often is cheap.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BuildError, readCmakeJs, readText, runCmake } from './cmake.mjs';
import { addonPath } from './index.js';
import { EVERY_SET, findsItsSets, hasSets, setsToBuild } from './instruction-sets.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const buildFolder = join(here, 'build');
/** CMake works here; the finished addon is moved out of it, over the one in use until then. */
const workFolder = join(buildFolder, 'work');
const stampPath = join(buildFolder, 'built-from.json');
const logPath = join(buildFolder, 'build.log');
const lockPath = join(buildFolder, 'lock');
/** The package on npm has the kernels inside, a clone beside it. */
const kernels = [join(here, 'kernels'), join(here, '..', 'kernels')].find(existsSync);

/**
 * Makes sure the addon is there and up to date. Of several calls at once, one builds.
 *
 * @param options.onStart     called with one line if there is something to build
 * @param options.onProgress  called with the share that is built, in percent
 * @param options.tests       whether what only tests want is built too
 * @returns {Promise<'fresh' | 'built'>}
 * @throws BuildError
 */
export async function buildAddon({
  onStart = () => {},
  onProgress = () => {},
  tests = false,
} = {}) {
  const compiler = findCompiler();
  const tools = describeTools(compiler);
  const cuda = cudaToBuild();
  const isa = setsToBuild(tests);
  if (isFresh({ sources: hashSources(), tools, cuda, isa, tests })) return 'fresh';
  expectTools(compiler);
  mkdirSync(buildFolder, { recursive: true });
  await takeLock();
  try {
    // Someone else may have built it while this call waited.
    const sources = hashSources();
    if (isFresh({ sources, tools, cuda, isa, tests })) return 'fresh';
    const isAddonFresh = isFresh({ sources, tools, cuda, isa: setsToBuild(false), tests: false });
    onStart(
      isAddonFresh
        ? 'Building what tests of kernels want: all instruction sets, CUDA on the CPU (minutes, once) …'
        : `Building the native kernels (${durationOf(cuda)} the first time) …`,
    );
    await build({ tools, cuda, isa, tests, onProgress });
    const sets = findsItsSets(isa) ? isa : EVERY_SET;
    if (sets !== isa) await build({ tools, cuda, isa: sets, tests, onProgress });
    const stamp = { sources, tools, cuda, isa: sets, tests };
    writeFileSync(stampPath, `${JSON.stringify(stamp, null, 2)}\n`);
    return 'built';
  } finally {
    rmSync(lockPath, { force: true });
  }
}

function durationOf(cuda) {
  return cuda === NO_CUDA ? 'a minute or two' : 'about ten minutes, with those for CUDA,';
}

async function build({ tools, cuda, isa, tests, onProgress }) {
  const before = readStamp();
  // Object files and CMake's cache of another compiler are useless; those without CUDA are not.
  const isSameTools = before?.tools === tools && [NO_CUDA, cuda].includes(before.cuda ?? NO_CUDA);
  if (!isSameTools && cuda !== NO_CUDA) rmSync(workFolder, { recursive: true, force: true });
  if (before?.tools !== tools) rmSync(workFolder, { recursive: true, force: true });
  // The CUDA files of an earlier build belong to other sources.
  if (cuda === NO_CUDA) {
    rmSync(join(workFolder, 'Release', 'saccade-cuda.so'), { force: true });
    rmSync(join(workFolder, 'cuda', 'CMakeFiles', 'saccade-cuda.dir'), {
      recursive: true,
      force: true,
    });
  }
  const options = { cuda, isa, tests, onProgress };
  let result = await compile(options);
  // CMake's cache may be at fault; a source that does not compile will not the second time either.
  if (result.code !== 0 && isSameTools && !hasCompilerError(result.output)) {
    rmSync(workFolder, { recursive: true, force: true });
    result = await compile(options);
  }
  writeFileSync(logPath, result.output);
  const built = join(workFolder, 'Release', 'saccade.node');
  if (result.code !== 0 || !existsSync(built)) {
    const tail = result.output.trimEnd().split('\n').slice(-40).join('\n');
    throw new BuildError(
      `${tail}\n\nThe native addon did not build; the whole output is in ${logPath}. ` +
        'Correct what it names and run this again.',
    );
  }
  if (cuda !== NO_CUDA) {
    try {
      expectCudaLibrary(join(workFolder, 'Release', 'saccade-cuda.so'), result.output);
    } catch (error) {
      // It would keep that there is no compiler for CUDA.
      rmSync(join(workFolder, 'CMakeCache.txt'), { force: true });
      throw error;
    }
  }
  const emulated = join(workFolder, 'Release', 'saccade-cuda-emulated.so');
  // One of an earlier build belongs to other sources.
  if (!tests) rmSync(emulated, { force: true });
  // A rename: processes that have the old files open keep them.
  const folder = dirname(addonPath());
  mkdirSync(folder, { recursive: true });
  for (const name of ['saccade-cuda.so', 'saccade-cuda-emulated.so', 'saccade.node']) {
    const [from, to] = [join(workFolder, 'Release', name), join(folder, name)];
    if (existsSync(from)) {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    } else {
      // Without nvcc there is none for CUDA devices, and the emulated one only if it was asked for.
      rmSync(to, { force: true });
    }
  }
}

/**
 * Checks that a build with CUDA made its library: where CMake finds no fit nvcc, it leaves it out.
 *
 * @throws BuildError naming what CMake said
 */
export function expectCudaLibrary(path, output) {
  if (existsSync(path)) return;
  const said = output.split('\n').filter((line) => /nvcc|CUDA/.test(line));
  throw new BuildError(
    `The kernels for CUDA devices were asked for, but no ${basename(path)} came out. CMake said:\n` +
      `${said.slice(-5).join('\n') || 'nothing about CUDA'}\n` +
      'Install an nvcc that CMake finds, 12 or newer, or set SACCADE_CUDA=OFF, then run this again.',
  );
}

/** Whether a compiler or linker refused a source, in the output of a build. */
export function hasCompilerError(output) {
  return /(^|\s)(fatal )?error: |undefined reference|ld returned/m.test(output);
}

/** Waits until no other process builds. A lock whose owner is gone is taken over. */
async function takeLock() {
  for (;;) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isRunning(Number(readText(lockPath)))) rmSync(lockPath, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function isRunning(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function isFresh({ sources, tools, cuda, isa, tests }) {
  const built = readStamp();
  // A CUDA build that was asked for once stays, as long as it is of these sources.
  const isCudaFresh = built?.cuda === cuda || (cuda === NO_CUDA && cudaSetting() === 'AUTO');
  return (
    built?.tools === tools &&
    built.sources === sources &&
    isCudaFresh &&
    hasSets(built.isa, isa) &&
    (built.tests === true || !tests) &&
    existsSync(addonPath())
  );
}

function readStamp() {
  try {
    return JSON.parse(readText(stampPath));
  } catch {
    // Never built, or interrupted: build.
    return undefined;
  }
}

function hashSources() {
  const files = [join(here, 'CMakeLists.txt'), join(here, 'package.json')];
  const folders = [
    ...['src', 'cuda'].map((name) => join(here, name)),
    ...['include', 'cpu', 'cuda'].map((name) => join(kernels, name)),
  ];
  for (const folder of folders) {
    for (const name of readdirSync(folder, { recursive: true })) {
      if (/\.(cc|h|cu|cuh|inc|map|sh|txt)$/.test(name)) files.push(join(folder, name));
    }
  }
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash.update(`${relative(here, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

function describeTools(compiler) {
  return [
    `${process.platform}-${process.arch}`,
    `cmake-js ${readCmakeJs().version}`,
    compiler?.version ?? 'no compiler',
    // CMake writes absolute paths into its cache.
    here,
  ].join(', ');
}

const NO_CUDA = 'no kernels for CUDA devices';

/** SACCADE_CUDA of the environment: ON, OFF, or AUTO where it is not set. */
function cudaSetting() {
  const setting = process.env.SACCADE_CUDA || 'AUTO';
  if (['ON', 'OFF', 'AUTO'].includes(setting)) return setting;
  throw new BuildError(`SACCADE_CUDA must be ON, OFF or AUTO, is ${setting}. Correct or unset it.`);
}

/** Whether this machine has an NVIDIA device that its driver can reach. */
function hasCudaDevice() {
  if (existsSync('/dev/nvidiactl')) return true;
  const { status, stdout } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('GPU');
}

/**
 * The compiler that builds for CUDA devices, as it introduces itself; NO_CUDA where none should.
 *
 * @param setting    ON, OFF, AUTO
 * @param hasDevice  whether there is a device to run them
 * @param nvcc       what nvcc says of itself, if it is there
 * @throws BuildError for ON without nvcc
 */
export function chooseCuda(setting, hasDevice, nvcc) {
  if (setting === 'OFF' || (setting === 'AUTO' && !hasDevice())) return NO_CUDA;
  const compiler = nvcc();
  if (compiler === undefined && setting === 'ON') {
    throw new BuildError(
      'SACCADE_CUDA=ON asks for the kernels for CUDA devices, but there is no nvcc on the PATH. ' +
        "Install NVIDIA's CUDA toolkit, 12 or newer, or unset SACCADE_CUDA.",
    );
  }
  return compiler ?? NO_CUDA;
}

function cudaToBuild() {
  const nvcc = () =>
    spawnSync('nvcc', ['--version'], { encoding: 'utf8' }).stdout?.trim() || undefined;
  return chooseCuda(cudaSetting(), hasCudaDevice, nvcc);
}

/** The compiler CMake will choose, and how it introduces itself. */
function findCompiler() {
  for (const command of [process.env.CXX, 'c++', 'g++', 'clang++']) {
    if (!command) continue;
    const version = firstLineOf(command, ['--version']);
    if (version !== undefined) return { command, version };
  }
  return undefined;
}

function firstLineOf(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n')[0] : undefined;
}

function expectTools(compiler) {
  const missing = (what, debian, mac) =>
    new BuildError(
      `The native kernels need ${what}, which is not installed. ` +
        `Debian, Ubuntu: sudo apt-get install ${debian}. macOS: ${mac}. Then run this again.`,
    );
  if (firstLineOf('cmake', ['--version']) === undefined) {
    throw missing('cmake', 'cmake', 'brew install cmake');
  }
  if (compiler === undefined) {
    throw missing('a C++17 compiler', 'g++', 'xcode-select --install');
  }
  const check = spawnSync(compiler.command, ['-std=c++17', '-x', 'c++', '-fsyntax-only', '-'], {
    input: '#include <optional>\nstd::optional<int> x;\n',
    encoding: 'utf8',
  });
  if (check.status !== 0) {
    throw missing(
      `a C++17 compiler (${compiler.version} is not one)`,
      'g++',
      'xcode-select --install',
    );
  }
  if (!['ninja', 'make'].some((tool) => firstLineOf(tool, ['--version']) !== undefined)) {
    throw missing('make', 'make', 'xcode-select --install');
  }
}

/** Builds the addon, and what is asked for beside it. */
async function compile({ cuda, isa, tests, onProgress }) {
  const options = [
    `--CDSACCADE_CUDA=${cuda === NO_CUDA ? 'OFF' : 'AUTO'}`,
    `--CDSACCADE_INSTRUCTION_SETS=${isa}`,
  ];
  const addon = await runCmake(options, onProgress, workFolder);
  if (addon.code !== 0 || !tests) return addon;
  const target = ['--target', 'saccade-cuda-emulated'];
  const library = await runCmake([...options, ...target], onProgress, workFolder);
  return { code: library.code, output: addon.output + library.output };
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await buildAddon({
      onStart: (line) => console.error(line),
      tests: process.argv.includes('--tests'),
    });
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
