/** Finds and opens the addon built beside this file, or says exactly why it cannot be opened. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

export function addonPath() {
  return fileURLToPath(new URL('./build/Release/saccade.node', import.meta.url));
}

/** The addon that is used: the one `SACCADE_ADDON` names, or else the one that was built. */
function usedPath() {
  return process.env.SACCADE_ADDON || addonPath();
}

export function libraryPath(library, path = usedPath()) {
  return join(dirname(path), `saccade-${library}.so`);
}

export function loadAddon(path = usedPath()) {
  if (!existsSync(path)) {
    return { ok: false, reason: 'not-built', path, detail: `${path} does not exist` };
  }
  try {
    return { ok: true, path, addon: require(path) };
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
