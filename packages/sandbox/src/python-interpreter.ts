/** Inspects a Python interpreter and finds its files. */
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { MissingError, messageOf } from '@saccade/core';

/** A Python interpreter, as `inspectPython` finds it. */
export interface PythonInterpreter {
  /** Path to call it by; in a virtual environment, the environment's own. */
  readonly python: string;
  readonly version: string;
  /** All directories it needs to see to start and to import. */
  readonly directories: readonly string[];
  /** Versions of the libraries that code may import; absent where not installed. */
  readonly libraries: Readonly<Record<string, string>>;
}

export const oldestPython: readonly [number, number] = [3, 10];

const question = `
import json, sys, importlib.metadata as m
libs = {}
for name in ("numpy", "pillow", "matplotlib", "opencv-python-headless", "av"):
    try: libs[name] = m.version(name)
    except m.PackageNotFoundError: pass
print(json.dumps([list(sys.version_info[:3]), sys.executable,
                  [sys.prefix, sys.base_prefix, *filter(None, sys.path)], libs]))
`;

/** Absolute path of a command, as the shell would find it. */
export function findCommand(command: string): string | undefined {
  if (command.includes('/')) return existsSync(command) ? resolve(command) : undefined;
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, command);
    try {
      accessSync(path, constants.X_OK);
      if (isAbsolute(path) && statSync(path).isFile()) return path;
    } catch {
      // not in this directory
    }
  }
  return undefined;
}

/** Directories of every link on the way from `path` to the file itself. */
function linkDirectories(path: string): string[] {
  const directories: string[] = [];
  let current = path;
  for (let hop = 0; hop < 32; hop++) {
    directories.push(dirname(current));
    if (!lstatSync(current).isSymbolicLink()) break;
    current = resolve(dirname(current), readlinkSync(current));
  }
  return directories;
}

/** The given directories without repeats and without those inside others. */
function outermost(directories: readonly string[]): string[] {
  const sorted = [...new Set(directories.map((d) => resolve(d)))].filter(existsSync).sort();
  return sorted.filter((d) => !sorted.some((other) => other !== d && d.startsWith(`${other}/`)));
}

/**
 * Starts the interpreter and asks it.
 *
 * @throws MissingError if it does not start or is older than Python 3.10
 */
export async function inspectPython(command: string): Promise<PythonInterpreter> {
  const path = findCommand(command);
  if (path === undefined) {
    throw new MissingError(
      `There is no Python at \`${command}\`. Install Python ${oldestPython.join('.')} or newer ` +
        '(e.g. `apt-get install python3 python3-venv`) or name another interpreter.',
    );
  }
  let answer: [number[], string, string[], Record<string, string>];
  try {
    answer = JSON.parse(await runForText(path, ['-I', '-c', question]));
  } catch (error) {
    throw new MissingError(
      `Python at ${path} does not start: ${messageOf(error)}. Reinstall it or name another one.`,
      { cause: error },
    );
  }
  const [version, executable, directories, libraries] = answer;
  const [major = 0, minor = 0] = version;
  if (major < oldestPython[0] || (major === oldestPython[0] && minor < oldestPython[1])) {
    throw new MissingError(
      `Python at ${path} is ${version.join('.')}; ${oldestPython.join('.')} or newer is needed. ` +
        'Install a newer one or name another interpreter.',
    );
  }
  return {
    python: executable,
    version: version.join('.'),
    directories: outermost([...linkDirectories(executable), ...directories]),
    libraries,
  };
}

/**
 * Standard output of a command.
 *
 * @param signal ends the command
 * @throws Error with the tail of its standard error
 */
export function runForText(
  command: string,
  args: readonly string[],
  { env, signal }: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
): Promise<string> {
  return new Promise((done, fail) => {
    const options = {
      maxBuffer: 16 * 1024 * 1024,
      ...(env !== undefined && { env }),
      ...(signal !== undefined && { signal }),
    };
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) return done(stdout);
      const tail = stderr.trim().split('\n').slice(-6).join('\n');
      fail(new Error(tail === '' ? error.message : tail, { cause: error }));
    });
    child.stdin?.end();
  });
}

/** Whether any user may read what is at `path`: each directory on the way lets others through. */
export function isOpenToOthers(path: string): boolean {
  for (let current = resolve(path); ; current = dirname(current)) {
    if ((statSync(current).mode & 0o001) === 0) return false;
    if (current === dirname(current)) return true;
  }
}
