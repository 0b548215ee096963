/**
 * Builds the addon for the machines of other people: the binary of a platform's package, which
 * scripts/pack.mjs takes from native/prebuilt/<platform>.
 *
 *   node native/prebuild.mjs                   for this machine
 *   node native/prebuild.mjs linux-arm64-gnu   on x64 with Debian's g++-aarch64-linux-gnu
 *   node native/prebuild.mjs linux-x64-cuda    the library of CUDA kernels, where nvcc is
 *
 * A binary for glibc runs on version 2.28, of Debian 10, and newer; the build fails if it would not.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BuildError, runCmake } from './cmake.mjs';
import { platformOf } from './index.js';

const here = dirname(fileURLToPath(import.meta.url));
const OLDEST_GLIBC = [2, 28];

/** Kernels are written in vector types that Microsoft's own compiler lacks. */
const TOOLSET = process.platform === 'win32' ? ['--toolset', 'ClangCL'] : [];

/** What CMake is told to build for another processor. */
const CROSS = {
  'linux-arm64-gnu': [
    '--CDCMAKE_SYSTEM_NAME=Linux',
    '--CDCMAKE_SYSTEM_PROCESSOR=aarch64',
    '--CDCMAKE_C_COMPILER=aarch64-linux-gnu-gcc',
    '--CDCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++',
  ],
};

/** The versions of glibc that a binary asks for, newest last; none for one that asks for no glibc. */
export function glibcVersions(dynamicSymbols) {
  const found = new Set(dynamicSymbols.match(/(?<=@GLIBC_)\d+\.\d+(\.\d+)?/g) ?? []);
  return [...found].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function checkGlibc(file) {
  const args = ['--wide', '--dyn-syms', file];
  const { stdout, error } = spawnSync('readelf', args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (error) throw new BuildError(`readelf cannot be run: ${error.message}. Install binutils.`);
  const newest = glibcVersions(stdout).at(-1);
  const [major, minor] = (newest ?? '0.0').split('.').map(Number);
  const isTooNew =
    major > OLDEST_GLIBC[0] || (major === OLDEST_GLIBC[0] && minor > OLDEST_GLIBC[1]);
  if (isTooNew) {
    const names = stdout.split('\n').filter((line) => line.includes(`@GLIBC_${newest}`));
    throw new BuildError(
      `${file} needs glibc ${newest}, newer than ${OLDEST_GLIBC.join('.')}:\n${names.join('\n')}\n` +
        'Add what it takes from there to native/glibc.',
    );
  }
  return newest;
}

/**
 * Builds the binary of one platform.
 *
 * @returns {Promise<{ file: string, glibc?: string }>}  the newest version of glibc that it needs
 * @throws BuildError
 */
export async function prebuild(platform) {
  const platforms = JSON.parse(readFileSync(join(here, 'platforms.json'), 'utf8'));
  const fits = platforms[platform];
  if (fits === undefined) {
    const known = Object.keys(platforms).join(', ');
    throw new BuildError(`There is no platform ${platform}. Known: ${known}.`);
  }
  const isHere = fits.os === process.platform && fits.cpu === process.arch;
  if (!isHere && CROSS[platform] === undefined) {
    throw new BuildError(`${platform} cannot be built on ${process.platform}-${process.arch}.`);
  }
  const isLibrary = fits.library !== undefined;
  const work = join(here, 'build', platform);
  const options = [
    '--CDSACCADE_PREBUILT=ON',
    `--CDSACCADE_CUDA=${isLibrary ? 'AUTO' : 'OFF'}`,
    ...(isLibrary ? ['--target', 'saccade-cuda'] : []),
    ...(isHere ? TOOLSET : CROSS[platform]),
  ];
  const { code, output } = await runCmake(options, () => {}, work);
  const name = fits.library ?? 'saccade.node';
  const built = join(work, 'Release', name);
  if (code !== 0 || !existsSync(built)) {
    throw new BuildError(`${output.split('\n').slice(-40).join('\n')}\n${platform} did not build.`);
  }
  const glibc = fits.libc === 'glibc' ? checkGlibc(built) : undefined;
  const file = join(here, 'prebuilt', platform, name);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(built, file);
  return { file, glibc };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { file, glibc } = await prebuild(process.argv[2] ?? platformOf());
    const needs = glibc === undefined ? '' : `, needs glibc ${glibc}`;
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB${needs}`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
