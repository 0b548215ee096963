import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, vi } from 'vitest';
import { makeMemoryGroups, removeMemoryGroups } from '../../control-groups.ts';
import { ensurePython } from '../../python-environment.ts';
import { inspectPython, type PythonInterpreter, runForText } from '../../python-interpreter.ts';
import { ServerLink } from '../../server-link.ts';
import { removeTree } from '../../temporary.ts';
import { makeStand, processesWith } from './firecracker.fixture.ts';
import { makeCell } from './jail.ts';

const environment = join(import.meta.dirname, '../../../../../.cache/sandbox-venv');

let interpreter: PythonInterpreter;
/** Why no jail can be made here. */
let obstacle: string | undefined;
beforeAll(async () => {
  interpreter = await inspectPython((await ensurePython(environment)).python);
  if (process.getuid?.() !== 0) obstacle = 'jails are made by root alone';
  const trial = ['--pid', '--mount', '--mount-proc', '--fork', '--kill-child', 'true'];
  await runForText('unshare', trial).catch((error: unknown) => {
    obstacle = `no name spaces can be made here: ${error}`;
  });
}, 300_000);

it('runs a machine in the jail of another user, with a limit of its memory', async (context) => {
  if (obstacle !== undefined) return context.skip(obstacle);
  const stand = await makeStand(interpreter, { isJailed: true });
  const groups = await makeMemoryGroups();
  await removeMemoryGroups(groups);
  const server = await ServerLink.start(stand.link);
  const { machine } = server.identity.report;
  expect(machine).toMatchObject({ engine: 'firecracker', isJailed: true });
  expect(machine && 'memoryObstacle' in machine).toBe('obstacle' in groups);
  const asked = JSON.parse(readFileSync(join(stand.folder, 'jail'), 'utf8'));
  const bytes = (1024 + 256 + 384 + 128) * 2 ** 20;
  expect(asked).toMatchObject({ 'new-pid-ns': true, 'resource-limit': `fsize=${bytes}` });
  if ('folder' in groups) expect(asked.cgroup).toMatch(new RegExp(`=${bytes}$`));
  const warm = await server.freeze();
  if (warm === undefined) throw new Error('It was not saved.');
  const copy = await ServerLink.start({ ...stand.link, server: { ...stand.link.server, warm } });
  await copy.checkAlive();
  expect(copy.isAlive).toBe(true);
  await copy.stop();
  await warm.snapshot.remove();
  const parent = asked['parent-cgroup'];
  if (parent !== undefined) {
    const places = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/unified'];
    for (const place of places) expect(existsSync(join(place, parent))).toBe(false);
  }
  expect(stand.leftovers()).toEqual([]);
  await stand.remove();
}, 180_000);

it('ends a jailed program, and all that it started, with the process that started it', async (context) => {
  if (obstacle !== undefined) return context.skip(obstacle);
  const stand = await makeStand(interpreter, { isJailed: true });
  await stand.setFaults({ start: 'deaf' });
  const { firecracker, jailer = '', kernel } = stand.machine;
  const files = { kernel };
  const cell = await makeCell({ firecracker, jailer, memoryBytes: 2 ** 30, files });
  const script = `require('node:child_process').spawn(
    ${JSON.stringify(cell.command)}, ${JSON.stringify(cell.args)}, { stdio: 'ignore' })`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  const deaf = (): string[] =>
    processesWith(stand.folder).filter((line) => line.includes('--api-sock api.sock --id'));
  await vi.waitFor(() => expect(deaf()).not.toEqual([]), { timeout: 60_000, interval: 200 });
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(processesWith(stand.folder)).toEqual([]), { timeout: 60_000 });
  await removeTree(cell.folder);
  await vi.waitFor(() => removeMemoryGroups(cell.processGroups));
  await stand.remove();
}, 180_000);

it('refuses a folder whose path is too long for sockets, and leaves nothing', async () => {
  const long = join('/tmp', `saccade-long-${'x'.repeat(90)}`);
  await mkdir(long, { recursive: true });
  await writeFile(join(long, 'kernel'), '');
  const before = process.env.TMPDIR;
  process.env.TMPDIR = long;
  try {
    const jail = { firecracker: '/bin/true', memoryBytes: 1, files: {} };
    await expect(makeCell(jail)).rejects.toMatchObject({
      ...{ name: 'MachineError', step: 'its folder', message: /shorter path/ },
    });
    expect((await runForText('ls', [long])).trim()).toBe('kernel');
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(long, { recursive: true });
  }
});
