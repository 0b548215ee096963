/** Kills at random points, and very many calls: each ends once, and nothing is left. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox, type SandboxOptions } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';
import { openRemoteSandbox } from './remote/remote-sandbox.ts';
import { startService, statsOf, until } from './service.fixture.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
let python = '';
const opened: LocalSandbox[] = [];

beforeAll(async () => {
  ({ python } = await ensurePython(environment));
}, 300_000);

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.dispose()));
});

async function open(options: SandboxOptions): Promise<LocalSandbox> {
  const sandbox = await openSandbox({ python, ...options });
  opened.push(sandbox);
  return sandbox;
}

/** Living processes below `root`, with when each was started. */
function treeOf(root: number): ReadonlyMap<number, string> {
  const parents = new Map<number, { readonly parent: number; readonly start: string }>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(Number(entry));
    if (fields !== undefined) parents.set(Number(entry), fields);
  }
  const found = new Map<number, string>();
  const below = (pid: number): void => {
    for (const [child, { parent, start }] of parents) {
      if (parent !== pid || found.has(child)) continue;
      found.set(child, start);
      below(child);
    }
  };
  below(root);
  return found;
}

function statOf(pid: number): { readonly parent: number; readonly start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : { parent: Number(fields[1]), start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

const isLiving = ([pid, start]: readonly [number, string]): boolean => statOf(pid)?.start === start;

/** A seeded order of events, so that a failure can be had again. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('a sandbox under fire', () => {
  it('ends every accepted call once, whoever is killed', async () => {
    const sandbox = await open({ servers: 2, limits: { wallSeconds: 5 } });
    const roll = dice(7);
    const ends: Record<string, number> = {};
    let made = 0;
    const wrong: string[] = [];
    let isOver = false;
    const trajectory = async (): Promise<void> => {
      while (!isOver) {
        made += 1;
        let end: string;
        try {
          const session = await sandbox.open();
          for (let turn = 1; turn <= 3; turn++) {
            const code = 'n = globals().get("n", 0) + 1\nprint(n)';
            const { kind, stdout } = await session.execute(code);
            if (kind === 'ok' && stdout !== `${turn}\n`) wrong.push(`${stdout} at turn ${turn}`);
            if (!['ok', 'crashed', 'infraError'].includes(kind)) wrong.push(kind);
            if (kind !== 'ok') break;
          }
          await session.dispose();
          end = 'done';
        } catch (error) {
          end = (error as Error).name;
        }
        ends[end] = (ends[end] ?? 0) + 1;
      }
    };
    const kills = { worker: 0, server: 0 };
    const kill = async (): Promise<void> => {
      // Until enough of both were hit, however slow the machine is.
      for (let strike = 1; kills.server < 3 || kills.worker < 6; strike++) {
        await new Promise((wake) => setTimeout(wake, 20 + 250 * roll()));
        const isServer = strike % 4 === 0;
        const servers = new Set(sandbox.serverPids);
        const below = sandbox.serverPids.flatMap((pid) => [...treeOf(pid).keys()]);
        const victims = isServer ? [...servers] : below.slice(-4);
        const victim = victims[Math.floor(roll() * victims.length)];
        if (victim === undefined) continue;
        try {
          process.kill(victim, 'SIGKILL');
          kills[isServer ? 'server' : 'worker'] += 1;
        } catch {
          // It ended a moment ago.
        }
      }
      isOver = true;
    };
    await Promise.all([...Array.from({ length: 6 }, trajectory), kill()]);
    expect(wrong).toEqual([]);
    expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(made);
    expect(Object.keys(ends).filter((end) => !['done', 'SandboxError'].includes(end))).toEqual([]);
    // All is as at the start: no session is left, and new ones work.
    const session = await sandbox.open();
    expect((await session.execute('print(3)')).stdout).toBe('3\n');
    await session.dispose();
    expect(sandbox.stats()).toMatchObject({ open: 0, waiting: 0, running: 0 });
    const tree = [...treeOf(process.pid)];
    await sandbox.dispose();
    await new Promise((wake) => setTimeout(wake, 200));
    const mine = new Set(tree.map(([pid]) => pid));
    for (const [pid] of treeOf(process.pid)) mine.delete(pid);
    expect(tree.filter((one) => mine.has(one[0]) && isLiving(one))).toEqual([]);
  });

  it('replaces servers for their age while their sessions continue', async () => {
    const sandbox = await open({ recycle: { sessions: 5 } });
    const old = await sandbox.open();
    await old.execute('kept = 1');
    const first = sandbox.serverPid;
    for (let round = 0; round < 400 && sandbox.stats().recycled === 0; round++) {
      const session = await sandbox.open();
      await session.dispose();
    }
    expect(sandbox.stats()).toMatchObject({ recycled: expect.any(Number), restarts: 0 });
    expect(sandbox.stats().recycled).toBeGreaterThan(0);
    expect(sandbox.serverPids).toContain(first);
    expect((await old.execute('print(kept)')).stdout).toBe('1\n');
    await old.dispose();
    for (let look = 0; look < 100 && sandbox.serverPids.includes(first); look++) {
      await new Promise((wake) => setTimeout(wake, 50));
    }
    expect(sandbox.serverPids).not.toContain(first);
  });

  it('replaces a server that has grown', async () => {
    const sandbox = await open({ recycle: { memoryBytes: 1 } });
    for (let round = 0; round < 600 && sandbox.stats().recycled === 0; round++) {
      const session = await sandbox.open();
      await session.dispose();
    }
    expect(sandbox.stats().recycled).toBeGreaterThan(0);
    const session = await sandbox.open();
    expect((await session.execute('print(4)')).stdout).toBe('4\n');
  });
});

describe('ten thousand calls', () => {
  it('wait for sessions in little memory; one more is refused; those who leave leave nothing', async () => {
    const sandbox = await open({ maxSessions: 2, maxQueued: 10_000 });
    const taken = await Promise.all([sandbox.open(), sandbox.open()]);
    const before = heapBytes();
    const leavers = Array.from({ length: 10_000 }, () => new AbortController());
    const waiting = leavers.map(({ signal }, index) =>
      sandbox.open({ signal, caller: `run ${index % 3}` }),
    );
    expect(sandbox.stats()).toMatchObject({ open: 2, waiting: 10_000 });
    await expect(sandbox.open()).rejects.toMatchObject({ code: 'queue-full' });
    expect((heapBytes() - before) / 10_000).toBeLessThan(8_192);
    const ending = Promise.allSettled(waiting.map(async (session) => (await session).dispose()));
    for (const leaver of leavers.slice(0, 9_990)) leaver.abort(new Error('gone'));
    for (const session of taken) await session.dispose();
    const ends = await ending;
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(sandbox.stats()).toMatchObject({ open: 0, waiting: 0, started: 12 });
  });

  it('run in order, and leave memory as it was', async () => {
    const sandbox = await open({ maxRunning: 2, maxQueued: 10_000 });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => sandbox.open()));
    const heights: number[] = [];
    for (const count of [1_000, 10_000]) {
      const before = sandbox.stats().executions;
      const calls = Array.from({ length: count }, async (_, index) => {
        const outcome = await sessions[index % 20]?.execute('pass');
        return outcome?.kind;
      });
      const kinds = await Promise.all(calls);
      expect(kinds.every((kind) => kind === 'ok')).toBe(true);
      expect(sandbox.stats().executions - before).toBe(count);
      heights.push(heapBytes());
    }
    const [first = 0, last = 0] = heights;
    expect(last - first).toBeLessThan(4 * 2 ** 20);
  });
});

/** Bytes of the heap in use after a full garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('a service under fire', () => {
  it('keeps its client’s promise when one of two is killed with Node: nothing runs twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-fire-'));
    const mortal = await startMortal(folder);
    const service = await startService();
    const sandbox = await openRemoteSandbox({
      ...{ hosts: [mortal.url, service.url], checkSeconds: 0.2 },
    });
    try {
      const sessions = await Promise.all(Array.from({ length: 8 }, () => sandbox.open()));
      const count = 'n = globals().get("n", 0) + 1\nprint(n)';
      for (const session of sessions) {
        expect(await session.execute(count)).toMatchObject({ kind: 'ok', stdout: '1\n' });
      }
      expect((await statsOf(service)).open).toBe(4);
      const tree = treeOf(mortal.pid);
      const running = sessions.map((session) =>
        session.execute(`import time\ntime.sleep(0.5)\n${count}`),
      );
      await new Promise((wake) => setTimeout(wake, 150));
      process.kill(mortal.pid, 'SIGKILL');
      const outcomes = await Promise.all(running);
      // Those of the dead server are lost, not wrong; the others ran once.
      const kinds = outcomes.map(({ kind }) => kind).sort();
      expect(kinds).toEqual([...Array(4).fill('infraError'), ...Array(4).fill('ok')]);
      for (const { kind, stdout } of outcomes) if (kind === 'ok') expect(stdout).toBe('2\n');
      // New sessions find the one that lives.
      const fresh = await Promise.all(Array.from({ length: 4 }, () => sandbox.open()));
      for (const session of fresh) expect((await session.execute(count)).stdout).toBe('1\n');
      await Promise.all([...sessions, ...fresh].map((session) => session.dispose()));
      expect(await until(async () => (await statsOf(service)).open === 0)).toBe(true);
      expect(await until(async () => ![...tree].some(isLiving))).toBe(true);
      expect(await until(async () => readdirSync(folder).length === 0)).toBe(true);
    } finally {
      await sandbox.dispose();
      await service.drain();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** A service in a process of its own, with its own temporary directory. */
async function startMortal(
  folder: string,
): Promise<{ readonly url: string; readonly pid: number }> {
  // Through Vite, because Node 20 reads no TypeScript.
  const script = `
import { runnerImport } from 'vite';
const conditions = ['@saccade/source'];
const load = (name) => runnerImport(${JSON.stringify(`${import.meta.dirname}/`)} + name, {
  configFile: false, logLevel: 'error', resolve: { conditions },
  ssr: { noExternal: [/^@saccade/], resolve: { conditions } },
});
const { module: service } = await load('service.ts');
const { module: index } = await load('index.ts');
const sandbox = await index.openSandbox(${JSON.stringify({ python })});
console.log((await service.openSandboxService({ sandbox })).url);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '../../..'),
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()));
  });
  return { url, pid: child.pid ?? 0 };
}
