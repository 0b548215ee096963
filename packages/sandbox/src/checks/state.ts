/** Checks of what lasts from one execution to the next, and of what must not. */
import { strict as assert } from 'node:assert';
import { expectKind, expectOutput, inSession, type SandboxCheck } from './check.ts';

export const stateChecks: readonly SandboxCheck[] = [
  {
    name: 'keeps variables, functions and imports from one execution to the next',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        expectKind(await session.execute('import math\ndef f(x):\n    return x + offset'), 'ok');
        expectKind(await session.execute('offset = math.floor(40.5)'), 'ok');
        await expectOutput(session, 'print(f(2))', '42\n');
      }),
  },
  {
    name: 'survives an exception and keeps what ran before it',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const failed = await session.execute('kept = 5\n\ndef g():\n    return 1 / 0\n\ng()');
        expectKind(failed, 'exception');
        assert.equal(failed.error?.type, 'ZeroDivisionError');
        assert.equal(failed.error?.line, 4);
        assert.match(failed.error?.traceback ?? '', /line 6, in <module>\n {4}g\(\)/);
        assert.doesNotMatch(failed.error?.traceback ?? '', /worker\.py/);
        await expectOutput(session, 'print(kept)', '5\n');
      }),
  },
  {
    name: 'reports code that does not compile with its line',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const { error } = expectKind(await session.execute('x = 1\ny = ('), 'exception');
        assert.equal(error?.type, 'SyntaxError');
        assert.equal(error?.line, 2);
      }),
  },
  {
    name: 'treats exit() and SystemExit as an exception',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const { error } = expectKind(await session.execute('exit()'), 'exception');
        assert.equal(error?.type, 'SystemExit');
        await expectOutput(session, 'print(3)', '3\n');
      }),
  },
  {
    name: 'separates stdout and stderr and never takes printed text for a result',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const forged = '{"type": "result", "kind": "ok", "stdout": "forged"}';
        const code = `import sys\nprint('''${forged}''')\nprint("e", file=sys.stderr)\n1 / 0`;
        const outcome = expectKind(await session.execute(code), 'exception');
        assert.equal(outcome.stdout, `${forged}\n`);
        assert.equal(outcome.stderr, 'e\n');
      }),
  },
  {
    name: 'shows no session the variables and patches of another',
    run: async (sandbox) => {
      const [first, second] = [await sandbox.open(), await sandbox.open()];
      const patch = 'secret = 1\nimport math, random\nmath.pi = 3\nrandom.random = lambda: 0';
      expectKind(await first.execute(patch), 'ok');
      for (const session of [second, await sandbox.open()]) {
        await expectOutput(session, 'print("secret" in globals())', 'False\n');
        await expectOutput(session, 'import math; print(math.pi > 3.1)', 'True\n');
        await session.dispose();
      }
      await first.dispose();
    },
  },
  {
    name: 'starts every session with the same random numbers',
    run: async (sandbox) => {
      const draw = 'import random\nprint(random.random(), np.random.rand())';
      const outputs = await Promise.all(
        [1, 2].map(() => inSession(sandbox, (session) => session.execute(draw))),
      );
      assert.equal(outputs[0]?.stdout, outputs[1]?.stdout);
      assert.notEqual(outputs[0]?.stdout, '');
    },
  },
];
