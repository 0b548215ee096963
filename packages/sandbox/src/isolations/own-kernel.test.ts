import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalSandbox } from '../local-sandbox.ts';
import { openSandbox } from '../open-sandbox.ts';
import { ensurePython } from '../python-environment.ts';
import type { LocalTier } from '../tiers.ts';
import { emulationReason } from './micro-vm.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
/** Milliseconds for an emulated machine to get ready before its tests are skipped. */
const emulatedMs = 60_000;
/** Room for processors that are emulated, and shared with other work. */
const limits = { wallSeconds: 60, cpuSeconds: 60 };

let python = '';
beforeAll(async () => {
  ({ python } = await ensurePython(environment));
}, 300_000);

interface Trial {
  readonly sandbox?: LocalSandbox;
  readonly reason: string;
}

async function tryOpen(isolation: LocalTier): Promise<Trial> {
  const opening = openSandbox({ python, isolation, limits });
  const emulated = isolation === 'micro-vm' ? await emulationReason() : undefined;
  if (emulated === undefined) {
    return await opening.then(
      (sandbox) => ({ sandbox, reason: '' }),
      (error) => ({ reason: String(error) }),
    );
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Trial>((resolve) => {
    const reason = `${emulated} It was not ready after ${emulatedMs / 1000} s.`;
    timer = setTimeout(() => resolve({ reason }), emulatedMs);
  });
  const found = await Promise.race([
    late,
    opening.then(
      (sandbox): Trial => ({ sandbox, reason: '' }),
      (error): Trial => ({ reason: String(error) }),
    ),
  ]);
  clearTimeout(timer);
  // Too late for the tests, but nothing is to be left behind.
  if (found.sandbox === undefined) opening.then((sandbox) => sandbox.dispose()).catch(() => {});
  return found;
}

for (const tier of ['gvisor', 'micro-vm'] as const) {
  describe(`a kernel for each session (${tier})`, () => {
    let sandbox: LocalSandbox | undefined;
    let reason = '';

    beforeAll(async () => {
      ({ sandbox, reason } = await tryOpen(tier));
    }, 300_000);
    afterAll(() => sandbox?.dispose(), 60_000);

    it('keeps sessions from each other and from the machine', async (context) => {
      if (sandbox === undefined) return context.skip(reason);
      expect(sandbox.guarantees).toMatchObject({
        ...{ network: 'none', files: 'isolated', sessions: 'separate', disk: 'session' },
        systemCalls: 'filtered',
      });
      expect(sandbox.guarantees.kernel).not.toBe('shared');
      const [one, two] = [await sandbox.open(), await sandbox.open()];
      const leave = `
import os, random
open("left", "w").write("secret")
print(os.urandom(16).hex(), random.random())`;
      const first = await one.execute(leave);
      const second = await two.execute(
        `print(os.listdir("."))${leave}`.replace('print', 'import os; print'),
      );
      expect([first.kind, second.kind]).toEqual(['ok', 'ok']);
      const [listing, ...numbers] = second.stdout.split('\n');
      expect(listing).toBe('[]');
      const [random, seeded] = first.stdout.trim().split(' ');
      const [otherRandom, otherSeeded] = (numbers[0] ?? '').split(' ');
      // Copies of one snapshot have the same seed, but not the same entropy.
      expect(otherSeeded).toBe(seeded);
      expect(otherRandom).not.toBe(random);
      await Promise.all([one.dispose(), two.dispose()]);
    }, 120_000);

    it('has the time of the machine, though it was saved before', async (context) => {
      if (sandbox === undefined) return context.skip(reason);
      const session = await sandbox.open();
      const { stdout } = await session.execute('import time\nprint(time.time())');
      expect(Math.abs(Number(stdout) - Date.now() / 1000)).toBeLessThan(5);
      await session.dispose();
    }, 120_000);

    it('ends the server with its session, and leaves nothing when it is disposed', async (context) => {
      if (sandbox === undefined) return context.skip(reason);
      const session = await sandbox.open();
      const servers = new Set(sandbox.serverPids);
      const outcome = await session.execute('import os\nos._exit(3)');
      expect(outcome.kind).toBe('crashed');
      await session.dispose();
      const after = await sandbox.open();
      expect((await after.execute('print(1)')).stdout).toBe('1\n');
      await after.dispose();
      const pids = [...servers, ...sandbox.serverPids];
      await sandbox.dispose();
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
      const ours = new RegExp(`^saccade-(gvisor|checkpoint|machine|snapshot)-\\d+-${process.pid}-`);
      expect(readdirSync(tmpdir()).filter((name) => ours.test(name))).toEqual([]);
    }, 120_000);
  });
}
