import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuseEmulation } from './isolations/emulation.fixture.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import type { Outcome } from './outcome.ts';
import { ensurePython } from './python-environment.ts';
import type { Session } from './session.ts';
import { type LocalTier, localTiers } from './tiers.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const limits = { wallSeconds: 6, cpuSeconds: 1, diskBytes: 8 * 2 ** 20, fileBytes: 16 * 2 ** 20 };
const sandboxes = new Map<LocalTier, LocalSandbox>();
const reasons = new Map<LocalTier, string>();

beforeAll(async () => {
  const { python } = await ensurePython(environment);
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

/** Everything of a session that an execution can change, as text. */
const state = `
import hashlib, json, os, random
files = {}
for folder, _, names in sorted(os.walk(".")):
    files[folder] = {n: hashlib.md5(open(os.path.join(folder, n), "rb").read()).hexdigest() for n in names}
print(json.dumps([x, sorted(n for n in globals() if n.startswith("new")), files, plt.get_fignums(),
    hash(random.getstate()), int(np.random.get_state()[1].sum()), os.getcwd() == home, reader.tell(),
    math.pi], sort_keys=True))`;

const setUp = `
import os, random
home = os.getcwd()
x = [1, 2]
os.mkdir("d")
open("d/kept", "w").write("kept")
open("data", "w").write("0123456789" * 1000)
reader = open("data")
reader.read(3)
plt.figure(); plt.plot([1, 2])`;

const changes = `
import math, os, random, shutil
x.append(3); new_name = 1; math.pi = 3
random.random(); np.random.rand()
plt.figure()
reader.read(5000)
open("d/kept", "w").write("lost")
open("more", "w").write("more")
os.rename("data", "moved")
shutil.rmtree("d")
os.mkdir("e"); os.chdir("e")`;

/** Ways to fail after having changed everything, and how each is called. */
const failures: readonly (readonly [string, string, Outcome['kind']])[] = [
  ['an exception', '1 / 0', 'exception'],
  ['running too long', 'import time\ntime.sleep(60)', 'timeout'],
  ['too much processor time', 'while True: pass', 'timeout'],
  ['too much memory', 'data = bytearray(8 << 30)', 'memory'],
  ['ending the interpreter', 'os._exit(0)', 'crashed'],
  ['a signal', 'os.kill(os.getpid(), 11)', 'crashed'],
  ['code that does not compile', 'x = (', 'exception'],
  ['more files than there is room for', 'open("l", "wb").write(bytes(9 << 20))', 'exception'],
];

async function inSession(
  tier: LocalTier,
  mode: 'transactional' | 'fresh',
  use: (session: Session) => Promise<void>,
): Promise<void> {
  const session = await (sandboxes.get(tier) as LocalSandbox).open({ mode });
  try {
    await use(session);
  } finally {
    await session.dispose();
  }
}

for (const tier of localTiers) {
  describe(`a transactional session of the ${tier} tier`, () => {
    const test = (name: string, run: () => Promise<void>, skipped?: string): void => {
      it.concurrent(name, async (context) => {
        if (!sandboxes.has(tier)) return context.skip(reasons.get(tier));
        if (skipped !== undefined) return context.skip(skipped);
        await run();
      });
    };

    for (const [name, code, kind] of failures) {
      test(`is as after the last success when code fails by ${name}`, async () => {
        await inSession(tier, 'transactional', async (session) => {
          const first = await session.execute(setUp);
          expect(first.kind, first.error?.message).toBe('ok');
          const before = await session.execute(state);
          expect(before.kind, before.error?.traceback).toBe('ok');
          const script = kind === 'exception' && code === 'x = (' ? code : `${changes}\n${code}`;
          const failed = await session.execute(script);
          expect(failed).toMatchObject({ kind, rolledBack: true });
          const after = await session.execute(state);
          expect(after.kind, after.error?.traceback).toBe('ok');
          expect(after.stdout).toBe(before.stdout);
        });
      });
    }

    test('keeps what succeeded, over many executions and failures between them', async () => {
      await inSession(tier, 'transactional', async (session) => {
        expect((await session.execute('total = 0')).rolledBack).toBeUndefined();
        for (let turn = 1; turn <= 4; turn++) {
          const kept = await session.execute(`total += 1\nopen("f", "a").write("${turn}")`);
          expect(kept.kind).toBe('ok');
          expect((await session.execute('total += 100\nopen("f", "w").close()\n1 / 0')).kind).toBe(
            'exception',
          );
        }
        const { stdout } = await session.execute('print(total, open("f").read())');
        expect(stdout).toBe('4 1234\n');
      });
    });

    const countsWaiting =
      tier === 'gvisor'
        ? 'gVisor also counts the time for which it waits for a processor'
        : undefined;
    const countsAlone = async (): Promise<void> => {
      await inSession(tier, 'transactional', async (session) => {
        const spin =
          'import time\nend = time.process_time() + 0.15\nwhile time.process_time() < end: pass';
        expect((await session.execute(spin)).cpuMs).toBeGreaterThan(120);
        expect((await session.execute('1')).cpuMs).toBeLessThan(100);
        expect((await session.execute(`${spin}\n1 / 0`)).cpuMs).toBeGreaterThan(120);
        expect((await session.execute('1')).cpuMs).toBeLessThan(100);
      });
    };
    test('counts the processor time of each execution alone', countsAlone, countsWaiting);

    test('ends when its own processes are killed, and says that it did', async () => {
      await inSession(tier, 'transactional', async (session) => {
        await session.execute('x = 1');
        const outcome = await session.execute(
          'import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(9)',
        );
        expect(outcome).toMatchObject({ kind: expect.stringMatching(/crashed|timeout/) });
        expect(outcome.rolledBack).toBeUndefined();
        expect((await session.execute('x')).kind).toBe('crashed');
      });
    });

    test('starts every execution anew in the mode `fresh`', async () => {
      await inSession(tier, 'fresh', async (session) => {
        const code =
          'print("seen" in globals())\nseen = 1\nimport os\nprint(os.listdir())\nopen("f", "w").close()';
        const outcomes = [await session.execute(code), await session.execute(code)];
        expect(outcomes.map(({ stdout }) => stdout)).toEqual(['False\n[]\n', 'False\n[]\n']);
      });
    });
  });
}
