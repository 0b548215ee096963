import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { coordinateImage } from './contract.ts';
import { RequirementError } from './guarantees.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox, type SandboxOptions } from './open-sandbox.ts';
import { probeSandbox } from './probe.ts';
import { ensurePython } from './python-environment.ts';
import { localTiers } from './tiers.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
let python = '';
let usable: readonly string[] = [];
const opened: LocalSandbox[] = [];

async function open(options: SandboxOptions): Promise<LocalSandbox> {
  const sandbox = await openSandbox({ python, ...options });
  opened.push(sandbox);
  return sandbox;
}

beforeAll(async () => {
  ({ python } = await ensurePython(environment));
  const { tiers } = await probeSandbox(python);
  usable = tiers.filter(({ isUsable }) => isUsable).map(({ tier }) => tier);
}, 300_000);

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.dispose()));
});

/** All living processes below `root`, found by their parents. */
function descendants(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state !== 'Z') parents.set(Number(entry), Number(parent));
    } catch {
      // ended while we looked
    }
  }
  const found: number[] = [];
  const below = (pid: number): void => {
    for (const [child, parent] of parents) {
      if (parent !== pid) continue;
      found.push(child);
      below(child);
    }
  };
  below(root);
  return found;
}

/** The processes that still are what they were. */
function living(processes: ReadonlyMap<number, string>): number[] {
  return [...processes].filter(([pid, identity]) => identityOf(pid) === identity).map(([p]) => p);
}

function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19]; // when it was started
  } catch {
    return undefined;
  }
}

function statusOf(pid: number, field: string): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
}

const parentOf = (pid: number): number => Number(statusOf(pid, 'PPid'));
const isPython = (pid: number): boolean => statusOf(pid, 'Name').startsWith('python');

function remember(pids: readonly number[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const pid of pids) {
    const identity = identityOf(pid);
    if (identity !== undefined) found.set(pid, identity);
  }
  return found;
}

async function untilGone(processes: ReadonlyMap<number, string>): Promise<number[]> {
  for (let wait = 0; wait < 100 && living(processes).length > 0; wait++) {
    await new Promise((wake) => setTimeout(wake, 30));
  }
  return living(processes);
}

const daemon =
  'import os, time\nfork = getattr(os, "fork")\nif fork() == 0:\n    os.setsid()\n' +
  '    if fork() == 0:\n        time.sleep(300)\n    os._exit(0)\ntime.sleep(0.2)';

const isSweep = process.env.SACCADE_SWEEP !== undefined;

// Tiers with a kernel for each session: isolations/own-kernel.test.ts.
const severalPerServer = localTiers.filter((tier) => tier !== 'gvisor' && tier !== 'micro-vm');
for (const isolation of severalPerServer) {
  const unsafe = isolation === 'process';
  describe(`a sandbox of the ${isolation} tier`, () => {
    /** `others`: stronger tiers whose test says the same as this one's. */
    const test = (name: string, run: () => Promise<void>, others: readonly string[] = []): void => {
      it(name, async (context) => {
        if (!usable.includes(isolation)) {
          return context.skip(`${isolation} does not work on this machine`);
        }
        const other = others.find((tier) => usable.includes(tier));
        if (!isSweep && other !== undefined && other !== isolation) {
          return context.skip(`it is that of ${other}; \`npm run sweep\` runs it here, too`);
        }
        await run();
      });
    };

    test('recovers from the death of its server, or of the process that forks, and leaves no process behind', async () => {
      const sandbox = await open({ isolation, unsafe });
      const [busy, idle] = [await sandbox.open(), await sandbox.open()];
      const running = busy.execute('import time\ntime.sleep(60)');
      await new Promise((wake) => setTimeout(wake, 100));
      process.kill(sandbox.serverPid, 'SIGKILL');
      expect((await running).kind).toBe('infraError');
      expect((await idle.execute('print(1)')).kind).toBe('infraError');
      // All at once: one new server serves them all.
      const fresh = await Promise.all([1, 2, 3].map(() => sandbox.open()));
      const outcomes = await Promise.all(fresh.map((session) => session.execute('print(2)')));
      expect(outcomes.map(({ stdout }) => stdout)).toEqual(['2\n', '2\n', '2\n']);
      expect(sandbox.stats()).toMatchObject({ open: 3, restarts: 1 });
      await Promise.all([busy, idle, ...fresh].map((session) => session.dispose()));

      const session = await sandbox.open();
      const cut = session.execute('import time\ntime.sleep(60)');
      await new Promise((wake) => setTimeout(wake, 100));
      const forked = descendants(sandbox.serverPid).filter((pid) => {
        return isPython(pid) && isPython(parentOf(pid));
      });
      expect(forked).toHaveLength(2);
      process.kill(Math.min(...forked), 'SIGKILL'); // the other is the session
      expect((await cut).kind).toBe('infraError');
      const next = await sandbox.open();
      expect((await next.execute('print(2)')).stdout).toBe('2\n');
      expect(sandbox.stats()).toMatchObject({ restarts: 2 });
      await Promise.all([session, next].map((each) => each.dispose()));

      // Disposed of, it leaves no process behind, daemons included.
      const parent = await sandbox.open();
      expect((await parent.execute(daemon)).kind).toBe('ok');
      const waiting = await sandbox.open();
      const processes = remember([sandbox.serverPid, ...descendants(sandbox.serverPid)]);
      expect(processes.size).toBeGreaterThanOrEqual(4); // server, two sessions, daemon
      await sandbox.dispose();
      expect(await untilGone(processes)).toEqual([]);
      expect((await Promise.allSettled([waiting.execute('1')]))[0]).toMatchObject({
        value: { kind: 'infraError' },
      });
    });

    test(
      'leaves no process behind when Node is killed',
      async () => {
        // Through Vite, because Node 20 reads no TypeScript.
        const script = [
          "import { runnerImport } from 'vite';",
          "const conditions = ['@saccade/source'];",
          `const { module } = await runnerImport(${JSON.stringify(join(import.meta.dirname, 'index.ts'))}, {`,
          "  configFile: false, logLevel: 'error', resolve: { conditions },",
          '  ssr: { noExternal: [/^@saccade/], resolve: { conditions } },',
          '});',
          `const sandbox = await module.openSandbox(${JSON.stringify({ python, isolation, unsafe })});`,
          'const session = await sandbox.open();',
          "const { stdout } = await session.execute('import os; print(os.getcwd())');",
          "session.execute('while True: pass');",
          'setTimeout(() => console.log(stdout.trim()), 100);',
        ].join('\n');
        const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
          cwd: join(import.meta.dirname, '../../..'),
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const directory = await new Promise<string>((resolve) => {
          child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
        });
        const processes = remember(descendants(child.pid ?? 0));
        expect(processes.size).toBeGreaterThanOrEqual(2);
        if (isolation !== 'bubblewrap') expect(existsSync(directory)).toBe(true);
        child.kill('SIGKILL');
        expect(await untilGone(processes)).toEqual([]);
        const scratch = isolation === 'bubblewrap' ? directory : dirname(dirname(directory));
        expect(existsSync(scratch)).toBe(false);
      },
      isolation === 'bubblewrap' ? [] : ['landlock'],
    );

    test(
      'takes neither waiting nor a busy Node for running, and lets sessions wait for a free place',
      async () => {
        const limits = { wallSeconds: 1 };
        const sandbox = await open({ isolation, unsafe, maxRunning: 1, maxSessions: 3, limits });
        const sessions = await Promise.all([1, 2, 3].map(() => sandbox.open()));
        const outcomes = await Promise.all(
          sessions.map((session) => session.execute('import time\ntime.sleep(0.6)')),
        );
        expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);

        const execution = sessions[0]?.execute('print(7)');
        await new Promise((wake) => setImmediate(wake));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
        expect(await execution).toMatchObject({ kind: 'ok', stdout: '7\n' });

        const waiting = sandbox.open();
        await new Promise((wake) => setTimeout(wake, 50));
        expect(sandbox.stats()).toMatchObject({ open: 3, waiting: 1 });
        await sessions[0]?.dispose();
        const session = await waiting;
        expect((await session.execute('print(8)')).stdout).toBe('8\n');
      },
      severalPerServer,
    );
  });
}

describe('the choice of isolation', () => {
  it('is bubblewrap where it works, without a warning; other users and host namespaces stay out', async (context) => {
    if (!usable.includes('bubblewrap'))
      return context.skip('bubblewrap does not work on this machine');
    const sandbox = await open({});
    expect(sandbox.tier).toBe('bubblewrap');
    expect(sandbox.warnings).toEqual([]);
    expect(sandbox.report).toMatchObject({ seesHostFiles: false, reachesNetwork: false });
    const session = await sandbox.open();
    const { stdout } = await session.execute(
      'import os\nprint(os.getuid(), os.getpid(), os.path.exists("/etc/passwd"), os.path.exists("/proc/1"))',
    );
    expect(stdout).toBe('1000 1 False False\n');
  });

  it('takes the next tier, and says why, where bubblewrap is missing', async (context) => {
    if (!usable.includes('landlock')) return context.skip('Landlock does not work on this machine');
    const path = process.env.PATH;
    process.env.PATH = '/nowhere';
    try {
      const messages: string[] = [];
      const sandbox = await open({
        onEvent: (event) => event.kind === 'warning' && messages.push(event.message),
      });
      expect(sandbox.tier).toBe('landlock');
      expect(sandbox.guarantees).toMatchObject({ network: 'none', files: 'isolated' });
      expect(messages).toEqual(sandbox.warnings);
      expect(messages[0]).toMatch(/not on the PATH.*install/i);
      await expect(open({ isolation: 'bubblewrap' })).rejects.toMatchObject({ code: 'missing' });
    } finally {
      process.env.PATH = path;
    }
  });

  it('gives a plain process to nobody who does not say that it is unsafe', async () => {
    await expect(open({ isolation: 'process' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/isolates nothing.*`unsafe: true`/),
    });
    const sandbox = await open({ isolation: 'process', unsafe: true });
    expect(sandbox.warnings[0]).toMatch(/without isolation/);
  });

  it('refuses to give less than is required, and names it', async () => {
    const require = { network: 'none', processes: 'hidden', files: 'user' } as const;
    const weak = open({ isolation: 'process', unsafe: true, require });
    await expect(weak).rejects.toBeInstanceOf(RequirementError);
    await expect(weak).rejects.toMatchObject({
      missing: [
        { name: 'network', required: 'none', found: 'host' },
        { name: 'processes', required: 'hidden', found: 'visible' },
      ],
    });
    if (!usable.includes('bubblewrap')) return;
    const strong = await open({ require });
    expect(strong.guarantees).toMatchObject({ network: 'none', processes: 'hidden' });
  });

  it('forks in one process where the system lets none fork for its parent', async () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform');
    Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' });
    const sandbox = await open({ isolation: 'process', unsafe: true }).finally(() => {
      Object.defineProperty(process, 'platform', platform ?? {});
    });
    const images = [{ name: 'image_clue_0', encoded: coordinateImage(8, 4) }];
    const [session, other] = await Promise.all([sandbox.open({ images }), sandbox.open()]);
    expect((await session.execute('print(image_clue_0.size)')).stdout).toBe('(8, 4)\n');
    expect((await other.execute('image_clue_0')).error?.type).toBe('NameError');
    // One process, and the two sessions' are its children.
    expect(descendants(sandbox.serverPid)).toHaveLength(2);
    await session.dispose();
    expect((await other.execute('print(1)')).stdout).toBe('1\n');
    await other.dispose();
    expect(descendants(sandbox.serverPid)).toHaveLength(0);
  });

  it('names what is missing: an interpreter, or its libraries', async () => {
    await expect(open({ python: '/nowhere/python3' })).rejects.toThrow(/no Python at/);
    const folder = mkdtempSync(join(tmpdir(), 'saccade-bare-'));
    try {
      // A real interpreter without the libraries.
      execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
      await expect(open({ python: join(folder, 'bin/python') })).rejects.toThrow(
        /has no numpy, pillow, matplotlib\. Pass the interpreter that ensurePython/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('runs nothing as root unless told so', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('needs root');
    // An environment in a folder that is closed to others, with the libraries of ours.
    const folder = mkdtempSync(join(tmpdir(), 'saccade-closed-'));
    try {
      const closed = join(folder, 'bin/python');
      execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
      const site = 'import sysconfig; print(sysconfig.get_path("purelib"))';
      const [theirs, ours] = [closed, python].map((p) =>
        execFileSync(p, ['-c', site]).toString().trim(),
      );
      symlinkSync(ours ?? '', join(folder, 'libraries'));
      writeFileSync(join(theirs ?? '', 'libraries.pth'), `${join(folder, 'libraries')}\n`);
      chmodSync(folder, 0o700);
      await expect(open({ python: closed, isolation: 'landlock' })).rejects.toThrow();
      const sandbox = await open({ python: closed, isolation: 'process', unsafe: true });
      const session = await sandbox.open();
      expect((await session.execute('import os; print(os.getuid())')).stdout).toBe('0\n');
      expect(sandbox.warnings.join()).toMatch(/runs as root/);
      // It could raise the limit of its own control group.
      expect(sandbox.guarantees.memory).toBe('process');
      expect(sandbox.report.memoryObstacle).toMatch(/\.$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
