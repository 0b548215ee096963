import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensurePython } from './python-environment.ts';
import { inspectPython } from './python-interpreter.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const folder = mkdtempSync(join(tmpdir(), 'saccade-python-'));

/** A program that answers as an interpreter of this version would. */
function pretender(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

beforeAll(() => ensurePython(environment), 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('ensurePython', () => {
  it('finds the pinned libraries again, and writes nothing', async () => {
    const written = () => statSync(join(environment, 'saccade-stamp.json')).mtimeMs;
    const before = written();
    const { python, libraries } = await ensurePython(environment);
    expect(written()).toBe(before);
    const pins = readFileSync(join(import.meta.dirname, '../python/requirements.txt'), 'utf8');
    for (const [name, version] of Object.entries(libraries)) {
      expect(pins).toContain(`${name}==${version}`);
    }
    expect(Object.keys(libraries)).toHaveLength(5);
    expect((await inspectPython(python)).libraries).toEqual(libraries);
  });

  it('says what to do when there is no Python, or it is too old or broken', async () => {
    const old = pretender('old', `echo '[[3, 8, 1], "/old", [], {}]'`);
    const broken = pretender('broken', 'echo "no module named site" >&2; exit 1');
    for (const [python, message] of [
      [join(folder, 'none'), /no Python at .*none.*Install Python 3\.10/],
      [old, /is 3\.8\.1; 3\.10 or newer is needed/],
      [broken, /does not start: no module named site/],
    ] as const) {
      const attempt = ensurePython(join(folder, 'venv'), { python });
      await expect(attempt).rejects.toMatchObject({ code: 'missing' });
      await expect(attempt).rejects.toThrow(message);
    }
  });

  it('says what to do when the venv module or pip fails', async () => {
    const answer = `if [ "$1" = -I ]; then echo '[[3, 12, 0], "'$0'", [], {}]'; exit; fi`;
    const noVenv = pretender('no-venv', `${answer}\necho "ensurepip is not available" >&2; exit 1`);
    await expect(ensurePython(join(folder, 'a'), { python: noVenv })).rejects.toThrow(
      /cannot make a virtual environment: ensurepip is not available.*python3-venv/s,
    );
    const noPip = pretender(
      'no-pip',
      `${answer}\nmkdir -p $3/bin\nprintf '#!/bin/sh\\necho no network >&2; exit 1' > $3/bin/python\n` +
        'chmod +x $3/bin/python',
    );
    await expect(ensurePython(join(folder, 'b'), { python: noPip })).rejects.toThrow(
      /pip could not install the sandbox's libraries: no network.*index settings/s,
    );
  });
});
