/** A run's sandbox: this machine's, or servers', as its configuration says. */
import { fileURLToPath } from 'node:url';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { openSandboxService } from '@saccade/sandbox/service';
import { expect, it } from 'vitest';
import { openRunSandbox } from './run-sandbox.ts';
import { applySettings, validateConfig } from './settings.ts';

const environment = fileURLToPath(new URL('../../../.cache/sandbox-venv', import.meta.url));

function rolloutWith(values: Readonly<Record<string, unknown>>) {
  const settings = Object.entries(values).map(([path, value]) => ({ path, value }));
  return validateConfig(applySettings({}, settings)).rollout;
}

it('is that of the servers it names, with the run’s own wall limit', async () => {
  const { python } = await ensurePython(environment);
  const token = 'of the run';
  const local = await openSandbox({ python });
  const service = await openSandboxService({ sandbox: local, token });
  process.env.SACCADE_TEST_TOKEN = token;
  try {
    const rollout = rolloutWith({
      'rollout.sandboxHosts': `${service.url}, ${service.url}`,
      'rollout.sandboxTokenVariable': 'SACCADE_TEST_TOKEN',
      'rollout.sandboxWallSeconds': 0.5,
    });
    const sandbox = await openRunSandbox(rollout, python, () => {});
    expect(sandbox.tier).toBe(`remote:${local.tier}`);
    const session = await sandbox.open();
    expect(local.stats().open).toBe(1);
    const outcome = await session.execute('import time\ntime.sleep(30)');
    expect(outcome).toMatchObject({ kind: 'timeout', tier: `remote:${local.tier}` });
    await sandbox.dispose();
    expect(local.stats().open).toBe(0);
  } finally {
    delete process.env.SACCADE_TEST_TOKEN;
    await service.drain();
  }
});

it('is refused where no server answers', async () => {
  const rollout = rolloutWith({ 'rollout.sandboxHosts': 'http://127.0.0.1:9' });
  await expect(openRunSandbox(rollout, 'python3', () => {})).rejects.toMatchObject({
    code: 'sandbox',
    message: expect.stringMatching(/No sandbox answers at http:\/\/127\.0\.0\.1:9/),
  });
  const nonsense = rolloutWith({ 'rollout.sandboxHosts': 'somewhere' });
  await expect(openRunSandbox(nonsense, 'python3', () => {})).rejects.toMatchObject({
    code: 'config',
  });
});
