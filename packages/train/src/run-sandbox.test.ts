/** A run's sandbox: this machine's, or servers', as its configuration says. */
import { fileURLToPath } from 'node:url';
import { ensurePython, openSandbox } from '@saccade/sandbox';
import { openSandboxService } from '@saccade/sandbox/service';
import { expect, it } from 'vitest';
import { openPlayground } from './playground.ts';
import { type ResolvedRun, resolveRun } from './run-config.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';

const environment = fileURLToPath(new URL('../../../.cache/sandbox-venv', import.meta.url));

const runWith = (...settings: readonly string[]): ResolvedRun =>
  resolveRun(applySettings({}, settings.map(parseSetting)));

/** Opens what a run plays with; its sandbox must not ask for an interpreter of this machine. */
const open = (run: ResolvedRun) =>
  openPlayground(run, {
    python: () => Promise.reject(new Error('nothing runs on this machine')),
    onEvent: () => {},
  });

it('is that of the servers it names, with the run’s own wall limit', async () => {
  const { python } = await ensurePython(environment);
  const token = 'of the run';
  const local = await openSandbox({ python });
  const service = await openSandboxService({ sandbox: local, token });
  process.env.SACCADE_TEST_TOKEN = token;
  try {
    const playground = await open(
      runWith(
        'sandbox=remote',
        `sandbox.hosts=${service.url}, ${service.url}`,
        'sandbox.tokenVariable=SACCADE_TEST_TOKEN',
        'protocol.executionSeconds=0.5',
      ),
    );
    const { sandbox } = playground;
    expect(sandbox.tier).toBe(`remote:${local.tier}`);
    const session = await sandbox.open();
    expect(local.stats().open).toBe(1);
    const outcome = await session.execute('import time\ntime.sleep(30)');
    expect(outcome).toMatchObject({ kind: 'timeout', tier: `remote:${local.tier}` });
    await playground.dispose();
    expect(local.stats().open).toBe(0);
  } finally {
    delete process.env.SACCADE_TEST_TOKEN;
    await service.drain();
  }
});

it('is refused where no server answers, or none is named', async () => {
  const refused = (...settings: readonly string[]) =>
    expect(open(runWith('sandbox=remote', ...settings))).rejects;
  await refused('sandbox.hosts=http://127.0.0.1:9').toMatchObject({
    code: 'sandbox',
    message: expect.stringMatching(/No sandbox answers at http:\/\/127\.0\.0\.1:9/),
  });
  await refused('sandbox.hosts=somewhere').toMatchObject({ code: 'config' });
  await refused().toMatchObject({ code: 'config', field: 'sandbox.hosts' });
});
