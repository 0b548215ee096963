/** CMake, by cmake-js: how it is found, configured and run. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Something the build needs is missing, or the build failed; the message says what to do. */
export class BuildError extends Error {}

/** The text of a file; empty where there is none. */
export function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The build tool; an installed package has it only where somebody asked for it. */
export function readCmakeJs() {
  const require = createRequire(import.meta.url);
  try {
    require.resolve('node-addon-api/package.json');
    const path = require.resolve('cmake-js/package.json');
    return { folder: dirname(path), version: require(path).version };
  } catch {
    const { peerDependencies } = require('./package.json');
    const wanted = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);
    throw new BuildError(
      'Building the native addon needs two npm packages that are not installed. ' +
        `Run \`npm install ${wanted.join(' ')}\`, then this again.`,
    );
  }
}

/** The share that a line of make (`[ 42%]`) or ninja (`[42/100]`) says is built, in percent. */
export function progressOf(text) {
  const last = [...text.matchAll(/^\[\s*(\d+)(?:%|\/(\d+))\]/gm)].at(-1);
  if (last === undefined) return undefined;
  const [, done, all] = last;
  return all === undefined ? Number(done) : Math.floor((100 * Number(done)) / Number(all));
}

/**
 * Whether CMake was configured with other values than the options ask for; `build` alone would keep
 * them.
 *
 * @param options  those of cmake-js: `--CDSACCADE_NAME=value` for each of our values
 * @param cache    text of CMakeCache.txt; empty where nothing is configured yet
 */
export function isConfiguredOtherwise(options, cache) {
  if (cache === '') return false;
  const values = options.flatMap((option) => {
    const [, name, value] = /^--CD(SACCADE_\w+)=(.*)$/.exec(option) ?? [];
    return name === undefined ? [] : [{ name, value }];
  });
  return values.some(({ name, value }) => {
    const kept = new RegExp(`^${name}:\\w+=(.*)$`, 'm').exec(cache)?.[1];
    return kept !== value;
  });
}

/**
 * Runs cmake-js and collects what it says.
 *
 * @param out  folder that CMake works in
 */
export async function runCmake(options, onProgress, out) {
  if (!isConfiguredOtherwise(options, readText(join(out, 'CMakeCache.txt')))) {
    return await runCmakeJs('build', options, onProgress, out);
  }
  const configured = await runCmakeJs('configure', options, onProgress, out);
  if (configured.code !== 0) return configured;
  const built = await runCmakeJs('build', options, onProgress, out);
  return { code: built.code, output: configured.output + built.output };
}

/** Runs one command of cmake-js. */
function runCmakeJs(task, options, onProgress, out) {
  const command = join(readCmakeJs().folder, 'bin', 'cmake-js');
  const parallel = ['--parallel', String(availableParallelism())];
  const args = [command, task, '--out', out, ...parallel, ...options];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => {
      output += chunk;
      const percent = progressOf(String(chunk));
      if (percent !== undefined) onProgress(percent);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: 1, output: `${output}\n${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
