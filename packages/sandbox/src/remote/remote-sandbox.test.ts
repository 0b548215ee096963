/** The behavior of a sandbox on other machines that the contract does not check. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coordinateImage } from '../contract.ts';
import { startService, statsOf, until } from '../service.fixture.ts';
import type { SandboxService } from '../service.ts';
import { openRemoteSandbox } from './remote-sandbox.ts';

let first: SandboxService;
let second: SandboxService;
beforeAll(async () => {
  [first, second] = await Promise.all([
    startService({ sandbox: { maxSessions: 2 } }),
    startService({ sandbox: { maxSessions: 2 } }),
  ]);
}, 300_000);
afterAll(() => Promise.all([first?.drain(), second?.drain()]));

const hosts = () => [first.url, second.url];

it('spreads sessions over the servers, and each stays where it is', async () => {
  const sandbox = await openRemoteSandbox({ hosts: hosts() });
  const sessions = await Promise.all([1, 2, 3, 4].map(() => sandbox.open()));
  expect([(await statsOf(first)).open, (await statsOf(second)).open]).toEqual([2, 2]);
  for (const [index, session] of sessions.entries()) await session.execute(`mine = ${index}`);
  for (const [index, session] of sessions.entries()) {
    expect((await session.execute('print(mine)')).stdout).toBe(`${index}\n`);
  }
  expect(sandbox.stats()).toEqual({ open: 4, waiting: 0, started: 4, executions: 8 });
  await sandbox.dispose(); // with its sessions
  expect(await until(async () => (await statsOf(first)).open === 0)).toBe(true);
  expect(await until(async () => (await statsOf(second)).open === 0)).toBe(true);
});

it('carries the mode of a session, and what was rolled back', async () => {
  const sandbox = await openRemoteSandbox({ hosts: hosts() });
  const session = await sandbox.open({ mode: 'transactional' });
  await session.execute('x = 1');
  const failed = await session.execute('x = 2\n1 / 0');
  expect(failed).toMatchObject({ kind: 'exception', rolledBack: true });
  const { stdout, rolledBack } = await session.execute('print(x)');
  expect([stdout, rolledBack]).toEqual(['1\n', undefined]);
  await sandbox.dispose();
});

it('carries what is repaired, and what was', async () => {
  const sandbox = await openRemoteSandbox({ hosts: hosts() });
  const session = await sandbox.open({ repairs: { indentation: true, cropBoxes: 16 } });
  const { stdout, repairs } = await session.execute(
    '    print(Image.new("L", (40, 40)).crop((0, 0, 50, 50)).size)',
  );
  expect(stdout).toBe('(40, 40)\n');
  expect(repairs?.map(({ kind, line }) => [kind, line])).toEqual([
    ['indentation', 1],
    ['cropBox', undefined],
  ]);
  await sandbox.dispose();
});

describe('a session', () => {
  it('asks no server for names or images that no server takes', async () => {
    const sandbox = await openRemoteSandbox({ hosts: hosts() });
    const encoded = coordinateImage(4, 4);
    await expect(sandbox.open({ images: [{ name: 'a b', encoded }] })).rejects.toMatchObject({
      code: 'data',
    });
    const broken = encoded.slice(0, 40);
    await expect(sandbox.open({ images: [{ name: 'a', encoded: broken }] })).rejects.toMatchObject({
      code: 'data',
    });
    expect(sandbox.stats()).toMatchObject({ open: 0, waiting: 0 });
    await sandbox.dispose();
  });

  it('is given up while it waits for a place', async () => {
    const sandbox = await openRemoteSandbox({ hosts: hosts() });
    const taken = await Promise.all([1, 2, 3, 4].map(() => sandbox.open()));
    const controller = new AbortController();
    const waiting = sandbox.open({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('no longer needed')), 200);
    await expect(waiting).rejects.toThrow('no longer needed');
    await Promise.all(taken.map((session) => session.dispose()));
    const later = await sandbox.open();
    expect((await later.execute('print(1)')).stdout).toBe('1\n');
    await sandbox.dispose();
  });
});

it('says which servers do not answer', async () => {
  await expect(openRemoteSandbox({ hosts: ['http://127.0.0.1:9'] })).rejects.toThrow(
    /No sandbox answers at http:\/\/127\.0\.0\.1:9/,
  );
  await expect(openRemoteSandbox({ hosts: [] })).rejects.toMatchObject({ code: 'config' });
});
