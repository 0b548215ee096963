import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeMemoryGroups, makeShareGroups, removeShareGroups } from './control-groups.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';

let python = '';

beforeAll(async () => {
  ({ python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv')));
}, 300_000);

const seconds = 4;

/** CPU seconds that a session gets with `count` processes, each a group of its own for the terminal. */
const work = (count: number): string => `
import os, resource, time
pids = []
for _ in range(${count}):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        end = time.monotonic() + ${seconds}
        while time.monotonic() < end: pass
        os._exit(0)
    pids.append(pid)
for pid in pids: os.waitpid(pid, 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)`;

describe('a session of one busy process beside one of sixteen', () => {
  for (const isolation of ['bubblewrap', 'landlock'] as const) {
    it(`gets a like share of the processors (${isolation})`, async (context) => {
      const limits = { processes: 32, cpuSeconds: 60, wallSeconds: 60 };
      const options = { python, isolation, forbidden: [], limits, maxRunning: 2 };
      const sandbox = await openSandbox(options).catch((error) => context.skip(String(error)));
      try {
        if (sandbox.guarantees.cpu !== 'session') {
          return context.skip(String(sandbox.report.sharesObstacles?.cpu));
        }
        const sessions = [await sandbox.open(), await sandbox.open()] as const;
        const [honest, hostile] = await Promise.all([
          sessions[0].execute(work(1)),
          sessions[1].execute(work(16)),
        ]);
        const ratio = Number(honest.stdout) / Number(hostile.stdout);
        // As processes share, it is 1/16. On two processors a group's weight is divided between them, so
        // one process gets two thirds of the one it is on: 1/2.
        expect(ratio).toBeGreaterThan(0.25);
      } finally {
        await sandbox.dispose();
      }
    }, 120_000);
  }
});

describe('where there are no groups to share by, the reason', () => {
  const cases = [
    ['a kernel without them', '', /no control groups/],
    ['no mount of the processors’ controller', '3:cpu:/own\n', /cpu are not mounted/],
  ] as const;
  for (const [name, cgroup, reason] of cases) {
    it(`is said: ${name}`, async () => {
      const proc = mkdtempSync(join(tmpdir(), 'saccade-shares-'));
      writeFileSync(join(proc, 'cgroup'), cgroup);
      writeFileSync(join(proc, 'mountinfo'), '20 1 8:1 / / rw - ext4 /dev/x rw\n');
      const memory = { obstacle: 'No memory.' };
      expect((await makeShareGroups(memory, proc)).cpu).toEqual({
        obstacle: expect.stringMatching(reason),
      });
      rmSync(proc, { recursive: true });
    });
  }

  it('is said: a controller that is not delegated to the groups of memory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-shares-'));
    writeFileSync(join(folder, 'cgroup.subtree_control'), 'memory cpu\n');
    const groups = await makeShareGroups({ folder, version: 2 });
    expect(groups.cpu).toEqual({ withMemory: true });
    expect(groups.io).toEqual({ obstacle: expect.stringMatching(/io is not delegated/) });
    rmSync(folder, { recursive: true });
  });
});

it('removes the folders of shares', async (context) => {
  const groups = await makeShareGroups(await makeMemoryGroups());
  if (!('folder' in groups.cpu)) return context.skip(JSON.stringify(groups.cpu));
  mkdirSync(join(groups.cpu.folder, 's0'));
  const { folder } = groups.cpu;
  await removeShareGroups(groups);
  expect(() => rmSync(folder)).toThrow(/ENOENT/);
});
