/** Checks of the limits, by code that breaks each of them. */
import { strict as assert } from 'node:assert';
import { expectDeath, expectKind, expectOutput, inSession, type SandboxCheck } from './check.ts';

export const limitChecks: readonly SandboxCheck[] = [
  {
    name: 'stops code that sleeps past the wall limit',
    run: async (sandbox) => {
      const started = performance.now();
      const outcome = await expectDeath(sandbox, 'import time\ntime.sleep(60)', ['timeout']);
      assert.ok(outcome.wallMs >= 2_900, `wallMs is ${outcome.wallMs}`);
      const seconds = (performance.now() - started) / 1000;
      assert.ok(seconds < 8, `it took ${seconds} s`);
    },
  },
  {
    name: 'stops code that spins past the CPU limit, even in a bare except',
    run: async (sandbox) => {
      const spin = 'while True:\n    try:\n        while True: pass\n    except: pass';
      await expectDeath(sandbox, spin, ['timeout']);
    },
  },
  {
    name: 'stops an endless writer without keeping what it writes',
    run: async (sandbox) => {
      await expectDeath(sandbox, 'while True: print("x" * 1000)', ['timeout']);
    },
  },
  {
    name: 'reports allocations beyond the limit as memory',
    run: async (sandbox) => {
      await expectDeath(sandbox, 'data = bytearray(8 << 30)', ['memory']);
      await expectDeath(sandbox, 'data = np.ones((40000, 40000))', ['memory']);
    },
  },
  {
    name: 'cuts long output and says so',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const outcome = expectKind(await session.execute('print("é" * 5_000_000)'), 'ok');
        assert.equal(outcome.stdout, 'é'.repeat(2048));
        assert.deepEqual(outcome.truncated, ['stdout']);
        const next = expectKind(await session.execute('print("short")'), 'ok');
        assert.deepEqual([next.stdout, next.truncated], ['short\n', []]);
      }),
  },
  {
    name: 'stops files from growing past the limit',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        // In pieces: to fill so much memory first would take a busy machine longer than the time limit.
        const code =
          'piece = bytes(1 << 20)\nwith open("f", "wb") as f:\n' +
          '    for _ in range(200): f.write(piece)';
        assert.equal(expectKind(await session.execute(code), 'exception').error?.type, 'OSError');
      }),
  },
  {
    name: 'calls it a crash when the interpreter is ended by its code',
    run: async (sandbox) => {
      await expectDeath(sandbox, 'import os\nos._exit(0)', ['crashed']);
      const abort = 'import os\ngetattr(os, "kill")(os.getpid(), 11)';
      const outcome = await expectDeath(sandbox, abort, ['crashed']);
      assert.match(outcome.error?.message ?? '', /signal 11/);
    },
  },
  {
    name: 'survives a fork bomb',
    run: async (sandbox) => {
      const bystander = await sandbox.open();
      const bomb =
        'import os\nfork = getattr(os, "fork")\nwhile True:\n' +
        '    try: fork()\n    except OSError: pass';
      await expectDeath(sandbox, bomb, ['timeout', 'crashed']);
      await expectOutput(bystander, 'print(4)', '4\n');
      await bystander.dispose();
    },
  },
  {
    name: 'refuses forbidden names before running anything',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const hidden = 'ran = True\nfrom os import system as s\ns("true")';
        for (const [code, name, line] of [
          ['ran = True\nx = input("?")', 'input', 2],
          [hidden, 'os.system', 2],
          ['import subprocess as p', 'subprocess', 1],
        ] as const) {
          const { error } = expectKind(await session.execute(code), 'forbidden');
          assert.deepEqual([error?.type, error?.line], ['Forbidden', line]);
          assert.ok(error?.message.includes(`\`${name}\``), error?.message);
        }
        await expectOutput(session, 'print("ran" in globals())', 'False\n');
        await expectOutput(session, 'input = lambda: 6\nprint(input())', '6\n');
      }),
  },
];
