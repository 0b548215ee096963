/** The sandbox's own Python environment: made once, found again in milliseconds. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EventSink, MissingError, messageOf } from '@saccade/core';
import {
  findCommand,
  inspectPython,
  isOpenToOthers,
  type PythonInterpreter,
  runForText,
} from './python-interpreter.ts';

/** A virtual environment with the sandbox's libraries, at `directory`. */
export interface PythonEnvironment extends PythonInterpreter {
  readonly directory: string;
}

/** Options of `ensurePython`. */
export interface PythonEnvironmentOptions {
  /** The interpreter to build from; by default `python3` on the PATH, then the system's. */
  readonly python?: string;
  readonly onEvent?: EventSink;
  /** Ends a build that has begun; what is there of it is made anew by the next call. */
  readonly signal?: AbortSignal;
}

interface Stamp {
  readonly requirements: string;
  /** Interpreter the environment was built from; its change calls for a rebuild. */
  readonly base: { readonly path: string; readonly size: number; readonly mtimeMs: number };
  readonly environment: PythonEnvironment;
}

/** The folder with the Python side, beside `src` and `dist`. */
export const pythonSources: string = fileURLToPath(new URL('../python', import.meta.url));

/** Where `ensurePython` leaves matplotlib's font list, inside an environment. */
export const fontCacheName = 'saccade-matplotlib';
const stampName = 'saccade-stamp.json';
const lockPatienceMs = 10 * 60_000;

/**
 * Makes sure that `directory` holds a virtual environment with the pinned libraries
 * (`python/requirements.txt`); skipped when its stamp matches them and the interpreter.
 *
 * pip runs with the user's own configuration. Safe to call from several processes at once.
 *
 * @throws MissingError if Python, its venv module or the libraries are not to be had
 * @throws the reason of `signal` where that ended it
 */
export async function ensurePython(
  directory: string,
  options: PythonEnvironmentOptions = {},
): Promise<PythonEnvironment> {
  const target = resolve(directory);
  const requirements = join(pythonSources, 'requirements.txt');
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const ready = await readStamp(target, hash);
  if (ready !== undefined) return ready;
  await mkdir(dirname(target), { recursive: true });
  const unlock = await lock(`${target}.lock`);
  try {
    return (await readStamp(target, hash)) ?? (await build(target, requirements, hash, options));
  } finally {
    await unlock();
  }
}

async function readStamp(target: string, hash: string): Promise<PythonEnvironment | undefined> {
  try {
    const stamp = JSON.parse(await readFile(join(target, stampName), 'utf8')) as Stamp;
    const { size, mtimeMs } = await stat(stamp.base.path);
    const isCurrent =
      stamp.requirements === hash && stamp.base.size === size && stamp.base.mtimeMs === mtimeMs;
    return isCurrent && stamp.environment.directory === target ? stamp.environment : undefined;
  } catch {
    return undefined; // none yet, or of another layout: build
  }
}

async function build(
  target: string,
  requirements: string,
  hash: string,
  options: PythonEnvironmentOptions,
): Promise<PythonEnvironment> {
  const { signal } = options;
  const ending = { ...(signal && { signal }) };
  const base = await chooseBase(options.python);
  const note = (done: number, text: string): void =>
    options.onEvent?.({ kind: 'progress', stage: 'sandbox Python', done, total: 3, note: text });
  await rm(target, { recursive: true, force: true });
  note(0, `virtual environment from Python ${base.version}`);
  try {
    await runForText(base.python, ['-m', 'venv', target], ending);
  } catch (error) {
    signal?.throwIfAborted();
    throw new MissingError(
      `Python at ${base.python} cannot make a virtual environment: ${messageOf(error)}. ` +
        'Install its venv module (e.g. `apt-get install python3-venv`) or name another Python.',
      { cause: error },
    );
  }
  const python = join(target, 'bin', 'python');
  note(1, 'installing numpy, pillow, matplotlib, opencv and av');
  try {
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '-q'];
    await runForText(python, [...pip, '-r', requirements], ending);
  } catch (error) {
    signal?.throwIfAborted();
    throw new MissingError(
      `pip could not install the sandbox's libraries: ${messageOf(error)}. ` +
        `Check the network or pip's index settings, then try again; the list is ${requirements}.`,
      { cause: error },
    );
  }
  note(2, 'font list');
  const fonts = join(target, fontCacheName);
  await mkdir(fonts);
  // The list is found again by its folder, and made here because the sandbox may not write it.
  await runForText(python, ['-c', 'import matplotlib.font_manager'], {
    env: { ...process.env, MPLCONFIGDIR: fonts },
    ...ending,
  });
  const interpreter = await inspectPython(python);
  const environment = { ...interpreter, python, directory: target };
  const { size, mtimeMs } = await stat(base.python);
  const stamp: Stamp = {
    requirements: hash,
    base: { path: base.python, size, mtimeMs },
    environment,
  };
  // Whole or not at all: an interrupted build leaves no stamp.
  await writeFile(join(target, `${stampName}.new`), JSON.stringify(stamp, null, 2));
  await rename(join(target, `${stampName}.new`), join(target, stampName));
  note(3, 'ready');
  return environment;
}

/**
 * The interpreter to build from. As root, one that other users can read is preferred: without
 * bubblewrap, sessions run as a user without rights, which has to be able to import.
 */
async function chooseBase(python: string | undefined): Promise<PythonInterpreter> {
  if (python !== undefined) return await inspectPython(python);
  const candidates = ['python3', '/usr/bin/python3', '/usr/local/bin/python3'];
  const usable: PythonInterpreter[] = [];
  let firstError: unknown;
  for (const candidate of candidates) {
    if (findCommand(candidate) === undefined) continue;
    try {
      const interpreter = await inspectPython(candidate);
      await runForText(interpreter.python, ['-c', 'import venv, ensurepip']);
      if (process.getuid?.() !== 0 || interpreter.directories.every(isOpenToOthers)) {
        return interpreter;
      }
      usable.push(interpreter);
    } catch (error) {
      firstError ??= error;
    }
  }
  if (usable[0] !== undefined) return usable[0];
  if (firstError instanceof MissingError) throw firstError;
  if (firstError !== undefined) {
    throw new MissingError(
      `No Python here can make a virtual environment: ${messageOf(firstError)}. ` +
        'Install the venv module (e.g. `apt-get install python3-venv`).',
      { cause: firstError },
    );
  }
  return await inspectPython('python3');
}

/** One builder at a time; the lock of a process that is gone is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  const giveUp = Date.now() + lockPatienceMs;
  for (;;) {
    try {
      await mkdir(path);
      await writeFile(join(path, 'pid'), String(process.pid));
      return () => rm(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true });
    if (Date.now() > giveUp) {
      throw new MissingError(
        `Another process has been building the Python environment for ten minutes. ` +
          `If none is, remove ${path}.`,
      );
    }
    await new Promise((wake) => setTimeout(wake, 200));
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const holder = Number(await readFile(join(path, 'pid'), 'utf8'));
    process.kill(holder, 0);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return true;
    if (code !== 'ENOENT') return false;
    // Between making the folder and writing the number; abandoned only if it stays so.
    const made = await stat(path).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > 5_000;
  }
}
