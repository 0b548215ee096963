/** The memory of a session as a whole, in every tier of this machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMemoryGroups, removeMemoryGroups } from './control-groups.ts';
import { refuseEmulation } from './isolations/emulation.fixture.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import { until } from './service.fixture.ts';
import type { SessionMode } from './session.ts';
import { ownedPrefix } from './temporary.ts';
import { type LocalTier, localTiers } from './tiers.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const mebibyte = 2 ** 20;
const limits = {
  ...{ memoryBytes: 1024 * mebibyte, sessionMemoryBytes: 128 * mebibyte },
  ...{ diskBytes: 64 * mebibyte, fileBytes: 64 * mebibyte, wallSeconds: 7 },
};
let python = '';
const sandboxes = new Map<LocalTier, LocalSandbox>();
const reasons = new Map<LocalTier, string>();

beforeAll(async () => {
  ({ python } = await ensurePython(environment));
  for (const isolation of localTiers) {
    try {
      if (isolation === 'micro-vm') await refuseEmulation();
      const options = { python, isolation, unsafe: true, limits, forbidden: [] };
      sandboxes.set(isolation, await openSandbox(options));
    } catch (error) {
      reasons.set(isolation, String(error));
    }
  }
  expect(sandboxes.has('process'), reasons.get('process')).toBe(true);
}, 300_000);

afterAll(() => Promise.all([...sandboxes.values()].map((sandbox) => sandbox.dispose())));

const hold = (name: string, size: number): string => `${name} = b"x" * (${size} << 20)`;
const writeFile = (name: string, size: number): string =>
  `piece = bytes(1 << 20)\nwith open("${name}", "wb") as file:\n    for _ in range(${size}): file.write(piece)`;
/** Children that hold 48 MiB each, and wait for one another; then how many are left. */
const children = (count: number): string => `
import os, time
answers = []
for _ in range(${count}):
    question, ask = os.pipe()
    answer, say = os.pipe()
    if os.fork() == 0:
        held = b"x" * (48 << 20)
        os.write(say, b"1")
        os.read(question, 1)
        os.write(say, b"2")
        time.sleep(60)
    os.close(say); os.close(question)
    os.read(answer, 1)
    answers.append((ask, answer))
left = 0
for ask, answer in answers:
    try: os.write(ask, b"?")
    except BrokenPipeError: continue
    left += len(os.read(answer, 1))
print(left, "left")`;

for (const tier of localTiers) {
  describe(`the memory of a session in the ${tier} tier`, () => {
    const usable = (skip: (reason: string) => void): LocalSandbox | undefined => {
      const sandbox = sandboxes.get(tier);
      if (sandbox?.guarantees.memory === 'session') return sandbox;
      skip(sandbox?.report.memoryObstacle ?? reasons.get(tier) ?? 'no reason is known');
      return undefined;
    };

    /** Runs code in a session, beside another that must not notice. */
    async function run(sandbox: LocalSandbox, mode: SessionMode, codes: readonly string[]) {
      const bystander = await sandbox.open();
      await bystander.execute(hold('kept', 100));
      const session = await sandbox.open({ mode });
      const outcomes = [];
      for (const code of codes) outcomes.push(await session.execute(code));
      await session.dispose();
      expect((await bystander.execute('print(len(kept) >> 20)')).stdout).toBe('100\n');
      await bystander.dispose();
      expect(sandbox.stats()).toMatchObject({ open: 0, restarts: 0 });
      return outcomes;
    }

    it('is limited for one process', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      const outcomes = await run(sandbox, 'persistent', [
        hold('x', 90),
        hold('y', 90),
        'print(len(x))',
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'memory', 'crashed']);
      expect(outcomes[1]?.error).toMatchObject({
        type: 'MemoryError',
        message: expect.stringMatching(/more than 128 MiB of memory together/),
      });
    });

    it('is limited for all its processes together, though each is within the limit', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      const few = await run(sandbox, 'persistent', [children(2)]);
      expect(few).toMatchObject([{ kind: 'ok', stdout: '2 left\n' }]);
      const many = await run(sandbox, 'persistent', [children(4), 'print(1)']);
      expect(many.map(({ kind }) => kind)).toEqual(['memory', 'crashed']);
    });

    it('includes its files, where they are in memory', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      if (sandbox.guarantees.disk !== 'session') return context.skip('its files are on a disk');
      const codes = [hold('x', 90), writeFile('f', 20), writeFile('g', 40)];
      const outcomes = await run(sandbox, 'persistent', codes);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'memory']);
    });

    it('includes memory that processes share', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      const share = 'import mmap\nm = mmap.mmap(-1, 60 << 20)\nm.write(bytes(60 << 20))';
      const outcomes = await run(sandbox, 'persistent', [share, hold('x', 90)]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'memory']);
    });

    it('past its limit is rolled back in a transactional session, which continues', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      const codes = [hold('x', 40), hold('y', 140), 'print(len(x) >> 20, "y" in globals())'];
      const outcomes = await run(sandbox, 'transactional', codes);
      expect(outcomes).toMatchObject([
        { kind: 'ok' },
        { kind: 'memory', rolledBack: true, error: { type: 'MemoryError' } },
        { kind: 'ok', stdout: '40 False\n' },
      ]);
    });

    it('is memory, not a timeout, where code waits for a process that was ended', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      const session = await sandbox.open();
      const waiting = `${children(4)}\ntime.sleep(60)`;
      const outcome = await session.execute(waiting, { wallSeconds: 5 });
      await session.dispose();
      expect(outcome.kind).toBe('memory');
    });

    it('is not charged to the session that comes after it', async (context) => {
      const sandbox = usable(context.skip);
      if (sandbox === undefined) return;
      for (let turn = 0; turn < 4; turn++) {
        const session = await sandbox.open();
        const codes = [
          hold('x', 60),
          ...(sandbox.guarantees.disk === 'session' ? [writeFile('f', 40)] : []),
        ];
        for (const code of codes) expect((await session.execute(code)).kind).toBe('ok');
        await session.dispose();
      }
      expect(await until(async () => (await chargedBytes()) < 16 * mebibyte)).toBe(true);
    });
  });
}

/** Bytes charged to the groups of all sessions of this process. */
async function chargedBytes(): Promise<number> {
  const groups = await makeMemoryGroups();
  if ('obstacle' in groups) throw new Error(groups.obstacle);
  await removeMemoryGroups(groups);
  const file = groups.version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
  const home = dirname(groups.folder);
  const own = readdirSync(home).filter((name) => name.startsWith(ownedPrefix('memory')));
  const slots = own.flatMap((name) =>
    readdirSync(join(home, name), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(home, name, entry.name)),
  );
  expect(slots.length).toBeGreaterThan(0);
  return slots.reduce((sum, slot) => sum + Number(readFileSync(join(slot, file), 'utf8')), 0);
}

it('refuses a limit in which no session can start, and derives one that is not given', async () => {
  const tooSmall = openSandbox({ python, limits: { sessionMemoryBytes: mebibyte } });
  await expect(tooSmall).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(/limits\.sessionMemoryBytes must be at least 33554432/),
  });
  const given = { memoryBytes: 2048 * mebibyte, diskBytes: 32 * mebibyte };
  const sandbox = await openSandbox({ python, isolation: 'process', unsafe: true, limits: given });
  expect(sandbox.limits.sessionMemoryBytes).toBe(2080 * mebibyte);
  await sandbox.dispose();
});

it('is required where it can be had, and refused with the reason where not', async () => {
  const asked = {
    python,
    isolation: 'process',
    unsafe: true,
    require: { memory: 'session' },
  } as const;
  const opened = openSandbox(asked);
  if (sandboxes.get('process')?.guarantees.memory === 'session') {
    const sandbox = await opened;
    expect(sandbox.guarantees.memory).toBe('session');
    return await sandbox.dispose();
  }
  const reason = sandboxes.get('process')?.report.memoryObstacle ?? '';
  expect(reason).not.toBe('');
  await expect(opened).rejects.toMatchObject({
    name: 'RequirementError',
    message: expect.stringContaining(reason),
    missing: [{ name: 'memory', required: 'session', found: 'process' }],
  });
});
