/** The Python package, installed by pip from its folder, with the real gymnasium. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTestSandbox, serveNeedles } from './environments.fixture.ts';

const sources = join(import.meta.dirname, '../python');
const environment = join(import.meta.dirname, '../../../.cache/gymnasium-venv');
const python = join(environment, 'bin', 'python');

/** Why gymnasium cannot be had here; undefined once the package is installed. */
function install(): string | undefined {
  const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_RETRIES: '0' };
  const run = (command: string, args: readonly string[]): string | undefined => {
    const { status, stderr, error } = spawnSync(command, args, { env, encoding: 'utf8' });
    return status === 0
      ? undefined
      : (error?.message ?? stderr.trim().split('\n').slice(-3).join(' '));
  };
  const pip = ['-m', 'pip', 'install', '-q'];
  const missing =
    (existsSync(python) ? undefined : run('python3', ['-m', 'venv', environment])) ??
    run(python, [...pip, 'gymnasium>=1.0', 'numpy>=1.23', 'pillow>=10']);
  if (missing !== undefined) return missing;
  // A build writes beside the sources; those of the repository stay as they are.
  const copy = mkdtempSync(join(tmpdir(), 'saccade-env-'));
  try {
    cpSync(sources, copy, { recursive: true });
    const failed = run(python, [...pip, '--no-deps', '--force-reinstall', copy]);
    if (failed !== undefined)
      throw new Error(`pip install of packages/env-service/python: ${failed}`);
  } finally {
    rmSync(copy, { recursive: true });
  }
  return undefined;
}

it('passes the checks of gymnasium, and plays episodes', async (context) => {
  const missing = install();
  if (missing !== undefined) {
    console.warn(`Not tested with gymnasium, which pip could not install: ${missing}`);
    return context.skip(missing);
  }
  const sandbox = await openTestSandbox();
  const service = await serveNeedles(sandbox, { token: 'secret of the test' });
  try {
    const env = {
      ...process.env,
      SACCADE_ENV_URL: service.url,
      SACCADE_ENV_TOKEN: 'secret of the test',
    };
    const tests = spawn(python, ['-m', 'unittest', 'discover', '-v', join(sources, 'tests')], {
      env,
    });
    let said = '';
    for (const stream of [tests.stdout, tests.stderr]) {
      stream.on('data', (piece) => {
        said += piece;
      });
    }
    const status = await new Promise((resolve) => tests.once('close', resolve));
    expect(status, said).toBe(0);
    expect(said).toMatch(/Ran \d+ tests/);
  } finally {
    await service.drain(1);
    const { open } = sandbox.stats();
    await sandbox.dispose();
    expect(open).toBe(0);
  }
}, 300_000);
