/** Finds and opens the addon, or says exactly why it cannot be opened. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const ADDON = 'saccade.node';

/** glibc or musl, where Node says it; undefined on other systems. */
function libcOf() {
  if (process.platform !== 'linux') return undefined;
  // Only the header of the report is wanted; names of network peers can take seconds.
  const before = process.report.excludeNetwork;
  process.report.excludeNetwork = true;
  const { glibcVersionRuntime } = process.report.getReport().header;
  process.report.excludeNetwork = before;
  return glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

let fitting;

/** The platforms of platforms.json that fit this machine, by name. */
function fittingPlatforms() {
  if (fitting !== undefined) return fitting;
  const text = readFileSync(new URL('./platforms.json', import.meta.url), 'utf8');
  const libc = libcOf();
  fitting = Object.entries(JSON.parse(text)).filter(
    ([, fits]) =>
      fits.os === process.platform &&
      fits.cpu === process.arch &&
      (fits.libc === undefined || fits.libc === libc),
  );
  return fitting;
}

/** The name of this machine's platform; undefined for one that platforms.json lacks. */
export function platformOf() {
  return fittingPlatforms().find(([, fits]) => fits.library === undefined)?.[0];
}

/** Its npm package with the addon, or with a library, and whether that is published. */
function findPackage(library) {
  const file = library && `saccade-${library}.so`;
  const found = fittingPlatforms().find(([, fits]) => fits.library === file);
  return found && { name: `@saccade/native-${found[0]}`, isReleased: found[1].isReleased };
}

export function platformPackage(library) {
  const found = findPackage(library);
  if (!found?.isReleased) return undefined;
  const { version } = require('./package.json');
  return `${found.name}@${version}`;
}

/** The file of a platform's package; undefined where it is not installed. */
function installedPath(library, file) {
  const found = findPackage(library);
  if (found === undefined) return undefined;
  try {
    return require.resolve(`${found.name}/${file}`);
  } catch {
    return undefined;
  }
}

export function addonPath() {
  return fileURLToPath(new URL(`./build/Release/${ADDON}`, import.meta.url));
}

/** `SACCADE_ADDON`, or else the platform's package, or else the one that was built. */
function usedPath() {
  return process.env.SACCADE_ADDON || installedPath(undefined, ADDON) || addonPath();
}

export function libraryPath(library, path) {
  const file = `saccade-${library}.so`;
  if (path !== undefined || process.env.SACCADE_ADDON) {
    return join(dirname(path ?? process.env.SACCADE_ADDON), file);
  }
  return installedPath(library, file) ?? join(dirname(addonPath()), file);
}

export function loadAddon(path = usedPath()) {
  if (!existsSync(path)) {
    return { ok: false, reason: 'not-built', path, detail: `${path} does not exist` };
  }
  try {
    const addon = require(path);
    if (addon.usableInstructionSets().length > 0) return { ok: true, path, addon };
    const detail = 'this processor lacks the instructions that its kernels were compiled for';
    return { ok: false, reason: 'other-processor', path, detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    // The dynamic loader's own words for a file made for another system or processor.
    const foreign = /invalid ELF|wrong ELF|mach-o|incompatible architecture|not a valid Win32/i;
    return {
      ok: false,
      reason: foreign.test(detail) ? 'wrong-platform' : 'load-failed',
      path,
      detail,
    };
  }
}
