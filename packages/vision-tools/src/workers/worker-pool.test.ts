import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { StateError } from '@saccade/core';
import { ensurePython } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import { ToolError } from '@saccade/tools';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pngSize } from '../png.ts';
import { DeclinedError, type EngineResult } from './vision-engine.ts';
import { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

const environment = join(import.meta.dirname, '../../../../.cache/sandbox-venv');
const folder = join(import.meta.dirname, 'operations.fixture');
const deadlineMs = 30_000;
const pools: WorkerPool[] = [];
let python: string;
let scratch: string;

beforeAll(async () => {
  ({ python } = await ensurePython(environment));
  scratch = await mkdtemp(join(tmpdir(), 'saccade-workers-'));
  return () => rm(scratch, { recursive: true });
}, 300_000);
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.dispose();
});

function openPool(options: Partial<WorkerPoolOptions> = {}): WorkerPool {
  const memory = { memoryMb: 1024, maxPixels: 1e6 };
  const pool = new WorkerPool({ python, workers: 1, ...memory, folders: [folder], ...options });
  pools.push(pool);
  return pool;
}

const ask = (pool: WorkerPool, params: object, more: object = {}): Promise<EngineResult> =>
  pool.run('faulty', params, [], { deadlineMs, ...more });

/** Whether a process is gone; one that nobody has waited for yet counts as gone. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await sleep(100);
  }
  return false;
}

describe('a pool of workers', () => {
  it('starts no process before a call, and ends all when it closes', async () => {
    const pool = openPool({ workers: 2 });
    expect(pool.stats().pids).toEqual([]);
    await Promise.all([1, 2].map((value) => ask(pool, { kind: 'echo', value })));
    const { pids } = pool.stats();
    expect(pids.length).toBeGreaterThan(0);
    await pool.dispose();
    for (const pid of pids) expect(await isGone(pid)).toBe(true);
    await expect(ask(pool, { kind: 'echo' })).rejects.toThrow(StateError);
  });

  it('gives back what the operation does, whatever it prints', async () => {
    const pool = openPool();
    const png = coordinateImage(30, 20);
    const params = { kind: 'echo', value: 'ä\u2028"' };
    const { result, images } = await pool.run('faulty', params, [png], { deadlineMs });
    expect(result).toMatchObject({ value: 'ä\u2028"' });
    expect(images).toHaveLength(1);
    expect(images[0]).toMatchObject({ width: 30, height: 20 });
    expect(pngSize(images[0]?.png ?? new Uint8Array())).toEqual({ width: 30, height: 20 });
  });

  it('gives every call its own answer, under load', async () => {
    const pool = openPool({ workers: 2 });
    const values = Array.from({ length: 60 }, (_, value) => value);
    const results = await Promise.all(values.map((value) => ask(pool, { kind: 'echo', value })));
    expect(results.map(({ result }) => (result as { value: number }).value)).toEqual(values);
  });

  it('warms up every process before the first call', async () => {
    const pool = openPool({ workers: 2 });
    await pool.warm(['faulty']);
    expect(pool.stats().pids).toHaveLength(2);
    const missing = openPool({
      restarts: { firstDelayMs: 1, maxDelayMs: 1, breakAfter: 1, coolingMs: 1 },
    });
    await expect(missing.warm(['no_such_operation'])).rejects.toThrow(/no_such_operation/);
  });

  it('tries a call once more that a crash cut off', async () => {
    const pool = openPool();
    const params = { kind: 'crash-once', mark: join(scratch, 'crash-once') };
    expect((await ask(pool, params)).result).toEqual({ survived: true });
    expect(pool.stats().lost).toBe(1);
  });

  it('fails a call that takes down two processes, and goes on', async () => {
    const pool = openPool();
    await expect(ask(pool, { kind: 'crash' })).rejects.toThrow(/lost twice: it ended with SIGKILL/);
    expect((await ask(pool, { kind: 'echo', value: 7 })).result).toMatchObject({ value: 7 });
  });

  it('loses no call of another worker when one is killed from outside', async () => {
    const pool = openPool({ workers: 2 });
    await pool.warm(['faulty']);
    const work = Array.from({ length: 20 }, () => ask(pool, { kind: 'sleep', seconds: 0.1 }));
    await sleep(250);
    const [victim] = pool.stats().pids;
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
    const results = await Promise.all(work);
    expect(results).toHaveLength(20);
    expect(pool.stats().lost).toBe(1);
  });

  it.each(['sleep', 'spin'])(
    'ends a call that misses its deadline (%s), and goes on',
    async (kind) => {
      const pool = openPool();
      await pool.warm(['faulty']);
      const late = ask(pool, { kind, seconds: 60 }, { deadlineMs: 300 });
      await expect(late).rejects.toThrow(/took longer than 0.3 s/);
      expect((await ask(pool, { kind: 'echo', value: 1 })).result).toMatchObject({ value: 1 });
    },
  );

  it('replaces a process that speaks nonsense', async () => {
    const pool = openPool();
    await expect(ask(pool, { kind: 'garbage' })).rejects.toThrow(/it sent a frame of/);
    expect((await ask(pool, { kind: 'echo', value: 2 })).result).toMatchObject({ value: 2 });
  });

  it.skipIf(process.platform !== 'linux')('bounds the memory of a process', async () => {
    const pool = openPool();
    await expect(ask(pool, { kind: 'memory', megabytes: 4000 })).rejects.toThrow(/too much memory/);
    const { result } = await ask(pool, { kind: 'memory', megabytes: 100 });
    expect(result).toEqual({ size: 100 * 2 ** 20 });
  });

  it('tells a refusal from a defect', async () => {
    const pool = openPool();
    const declined = ask(pool, { kind: 'declined' });
    await expect(declined).rejects.toThrow(DeclinedError);
    await expect(declined).rejects.toMatchObject({ type: 'CannotAnswer' });
    await expect(ask(pool, { kind: 'unknown' })).rejects.toThrow(ToolError);
    await expect(ask(pool, { kind: 'nan' })).rejects.toThrow(/ValueError/);
    await expect(pool.run('os', {}, [], { deadlineMs })).rejects.toThrow(/ModuleNotFoundError/);
    await expect(pool.run('../x', {}, [], { deadlineMs })).rejects.toThrow(/no name/);
    expect(pool.stats().lost).toBe(0);
  });

  it('declines what is no image, is cut short or is too large, and keeps its process', async () => {
    const pool = openPool();
    const png = coordinateImage(40, 40);
    const given = (bytes: Uint8Array): Promise<EngineResult> =>
      pool.run('faulty', { kind: 'echo' }, [bytes], { deadlineMs });
    await given(png);
    const before = pool.stats().pids;
    for (const bytes of [new Uint8Array(), new Uint8Array(100), png.subarray(0, png.length / 2)]) {
      await expect(given(bytes)).rejects.toMatchObject({ type: 'UnreadableImage' });
    }
    const large = coordinateImage(1001, 1000);
    await expect(given(large)).rejects.toMatchObject({ type: 'ImageTooLarge' });
    expect(pool.stats().pids).toEqual(before);
  });

  it('lets go of a call that is aborted, waiting or working', async () => {
    const pool = openPool();
    await pool.warm(['faulty']);
    const controller = new AbortController();
    const { signal } = controller;
    const working = ask(pool, { kind: 'sleep', seconds: 60 }, { signal });
    const waiting = ask(pool, { kind: 'echo' }, { signal });
    controller.abort(new Error('enough'));
    await expect(working).rejects.toThrow('enough');
    await expect(waiting).rejects.toThrow('enough');
    expect((await ask(pool, { kind: 'echo', value: 3 })).result).toMatchObject({ value: 3 });
    await expect(ask(pool, { kind: 'echo' }, { signal })).rejects.toThrow('enough');
  });

  it('ends a process that an aborted call keeps busy, and counts that as no failure', async () => {
    const restarts = { firstDelayMs: 60_000, maxDelayMs: 60_000, breakAfter: 1, coolingMs: 60_000 };
    const pool = openPool({ restarts });
    await pool.warm(['faulty']);
    const before = pool.stats().pids;
    const signal = AbortSignal.timeout(50);
    await expect(ask(pool, { kind: 'spin' }, { signal })).rejects.toThrow(/timeout/);
    expect((await ask(pool, { kind: 'echo', value: 4 })).result).toMatchObject({ value: 4 });
    expect(pool.stats().pids).not.toEqual(before);
    expect(pool.stats().lost).toBe(0);
  });

  it('stops starting processes that never come up, and says why', async () => {
    const restarts = { firstDelayMs: 1, maxDelayMs: 2, breakAfter: 3, coolingMs: 60_000 };
    const pool = openPool({ python: '/no/such/python', restarts });
    await expect(ask(pool, { kind: 'echo' })).rejects.toThrow(/failed 3 times .*no\/such\/python/);
    await expect(ask(pool, { kind: 'echo' })).rejects.toThrow(/The next one starts in/);
  });

  it('fails what waits and works when it closes', async () => {
    const pool = openPool();
    const work = [1, 2].map(() => ask(pool, { kind: 'sleep', seconds: 60 }));
    const ended = Promise.allSettled(work);
    await sleep(100);
    await pool.dispose();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('leaves no process behind when Node is killed', async () => {
    const module = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href;
    const code = `
      const { WorkerPool } = await import(${JSON.stringify(module)});
      const pool = new WorkerPool(${JSON.stringify({ python, workers: 2, memoryMb: 1024, maxPixels: 1e6, folders: [folder] })});
      await pool.warm(['faulty']);
      for (const kind of ['spin', 'sleep']) {
        pool.run('faulty', { kind, seconds: 600 }, [], { deadlineMs: 600000 });
      }
      console.log(JSON.stringify(pool.stats().pids));`;
    const node = spawn(process.execPath, ['--input-type=module', '-e', code]);
    const line = await new Promise<string>((resolve, reject) => {
      node.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      node.once('exit', (status) => reject(new Error(`Node ended with ${status}`)));
    });
    const pids = JSON.parse(line) as number[];
    expect(pids).toHaveLength(2);
    node.removeAllListeners('exit');
    node.kill('SIGKILL');
    for (const pid of pids) expect(await isGone(pid)).toBe(true);
  });
});
