/** Checks of the beginning and the end of sessions. */
import { strict as assert } from 'node:assert';
import { expectKind, expectOutput, inSession, type SandboxCheck } from './check.ts';

export const lifeChecks: readonly SandboxCheck[] = [
  {
    name: 'runs 64 sessions side by side, each with its own state',
    run: async (sandbox) => {
      const check = async (index: number): Promise<void> => {
        await inSession(sandbox, async (session) => {
          expectKind(await session.execute(`mine = ${index}`), 'ok');
          for (let turn = 1; turn <= 3; turn++) {
            await expectOutput(session, 'mine += 1; print(mine)', `${index + turn}\n`);
          }
        });
      };
      await Promise.all(Array.from({ length: 64 }, (_, index) => check(index)));
    },
  },
  {
    name: 'removes what a session wrote and ends what it left running',
    run: async (sandbox) => {
      const first = await sandbox.open();
      const leave =
        'import os, time\nfork = getattr(os, "fork")\nif fork() == 0:\n    os.setsid()\n' +
        '    if fork() == 0:\n        time.sleep(300)\n    os._exit(0)\n' +
        'os.makedirs("a/b")\nopen("a/b/c", "w").write("x")\nprint(os.getcwd())';
      const { stdout } = expectKind(await first.execute(leave), 'ok');
      await first.dispose();
      const look = `import os\nprint(os.path.exists(${JSON.stringify(`${stdout.trim()}/a`)}))`;
      await inSession(sandbox, (session) => expectOutput(session, look, 'False\n'));
    },
  },
  {
    name: 'refuses executions in a disposed session; disposing twice is harmless',
    run: async (sandbox) => {
      const session = await sandbox.open();
      await session.dispose();
      await session.dispose();
      await assert.rejects(session.execute('print(1)'), { name: 'StateError' });
    },
  },
  {
    name: 'gives up an execution when its signal aborts, and continues with others',
    run: async (sandbox) => {
      const controller = new AbortController();
      const session = await sandbox.open();
      const execution = session.execute('import time\ntime.sleep(60)', controller);
      setTimeout(() => controller.abort(new Error('no longer needed')), 50);
      await assert.rejects(execution, /no longer needed/);
      await session.dispose();
      await inSession(sandbox, (other) => expectOutput(other, 'print(5)', '5\n'));
    },
  },
];
