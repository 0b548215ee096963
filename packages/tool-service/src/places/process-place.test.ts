/** A dying process of tools does not affect the calls of others. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallFault } from '../faults.ts';
import { digestText } from '../load/plain-tools.ts';
import { image, loadModule, python, until } from '../service.fixture.ts';
import type { Place, PlacedCall, Settled } from './place.ts';
import { openProcessPlace, type ProcessPlaceOptions } from './process-place.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'saccade-place-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const named = [{ name: 'digest_tool' }, { name: 'device_tool' }];

async function open(options: Partial<ProcessPlaceOptions> = {}): Promise<{
  readonly place: Place & { readonly pids: readonly number[] };
  readonly restarts: string[];
}> {
  const restarts: string[] = [];
  const settings = { modules: [loadModule], tools: named, scratch, slowSeconds: 2.8 };
  const place = await openProcessPlace({
    ...{ name: 'faulty', modules: [loadModule], tools: [{ name: 'faulty', settings }] },
    ...{ environments: [{}], concurrency: 1, startSeconds: 60, maxPixels: 1e6 },
    answers: { python, sandbox: () => Promise.reject(new Error('not used')) },
    graceSeconds: 0.3,
    onRestart: (_, cause) => restarts.push(cause),
    ...options,
  });
  await until(async () => place.problem() === undefined);
  return { place: place as Place & { readonly pids: readonly number[] }, restarts };
}

let tickets = 0;
function call(given: object = {}, signal = new AbortController().signal): PlacedCall {
  const ticket = `${process.pid}-${tickets++}`;
  return { given: { ticket, ...given }, images: [image], signal, runMs: 2500 };
}

async function run(place: Place, calls: readonly PlacedCall[], tool = 'digest_tool') {
  const ends: Settled[] = [];
  await place.run(tool, calls, (index, settled) => {
    expect(ends[index]).toBeUndefined();
    ends[index] = settled;
  });
  return ends.map((end) =>
    'fault' in end ? end.fault.kind : (end.outcome as { stdout?: string })?.stdout,
  );
}

const right = `${digestText(image)}\n`;
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const counts: readonly (readonly [number, number])[] = [
  [2, 2],
  [1, 1],
  [1, 4],
];
describe.each(counts.slice(0, process.env.SACCADE_SWEEP === undefined ? 1 : undefined))(
  '%i processes with %i calls at a time',
  (copies, concurrency) => {
    it('lose no call but the one that breaks', async () => {
      const environments = Array.from({ length: copies }, () => ({}));
      const memoryMib = 200;
      const { place, restarts } = await open({ environments, concurrency, memoryMib });
      const { pids } = place;
      const broken = ['crash', 'hang', 'block', 'memory', 'slow', 'crash-once'];
      const wanted = ['crashed', 'deadline', 'deadline', undefined, 'deadline', right];
      const calls = broken.flatMap((fault) => [call({ fault }), call(), call()]);
      const ends = await Promise.all(calls.map(async (one) => (await run(place, [one]))[0]));
      for (const [index, end] of ends.entries()) {
        const own = wanted[index / 3];
        if (index % 3 > 0) expect(end).toBe(right);
        else if (own !== undefined) expect(end).toBe(own);
        // On a busy machine its time is over before its memory is.
        else expect(['crashed', 'deadline']).toContain(end);
      }
      expect(restarts.length).toBeGreaterThan(3);
      const after = place.pids;
      await place.dispose();
      expect([...pids, ...after].filter(isAlive)).toEqual([]);
    }, 240_000);
  },
);

it('makes a batch of which one hangs or crashes again, call by call', async () => {
  const { place } = await open();
  const hanging = [call(), call({ fault: 'hang' }), call()];
  expect(await run(place, hanging, 'device_tool')).toEqual(['100×80\n', 'deadline', '100×80\n']);
  const crashing = [call({ fault: 'crash' }), call(), call({ fault: 'garbage' })];
  const [crashed, whole, garbled] = await run(place, crashing, 'device_tool');
  expect([crashed, whole]).toEqual(['crashed', '100×80\n']);
  expect(garbled).toBeUndefined();
  await place.dispose();
}, 240_000);

it('stops a call for which nobody waits, and drops one that has not begun', async () => {
  const { place, restarts } = await open();
  const leaving = new AbortController();
  const running = run(place, [call({ fault: 'slow' }, leaving.signal)]);
  const waiting = run(place, [call({}, leaving.signal)]);
  leaving.abort(new CallFault('left', 'gone'));
  expect(await run(place, [call()])).toEqual([right]);
  expect(await waiting).toEqual(['left']);
  await running;
  expect(restarts.length).toBeLessThan(2);
  await place.dispose();
}, 240_000);

it('ends calls that wait or run when it is disposed of', async () => {
  const { place } = await open();
  const ends = [run(place, [call({ fault: 'hang' })]), run(place, [call()])];
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { pids } = place;
  await place.dispose();
  expect(await Promise.all(ends)).toEqual([['stopped'], ['stopped']]);
  expect(pids.filter(isAlive)).toEqual([]);
}, 240_000);

it('gives its processes the environment that it was told', async () => {
  const source = `export const tool = {
    name: 'device_name', description: 'x', parameters: { type: 'object' }, example: {},
    call: async () => ({ kind: 'ok', stdout: process.env.SACCADE_TEST_DEVICE ?? '', stderr: '',
      images: [], truncated: [], wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' }) };`;
  const module = await write('device.ts', source);
  const environments = [{ SACCADE_TEST_DEVICE: 'first' }, { SACCADE_TEST_DEVICE: 'second' }];
  const tools = [{ name: 'device_name' }];
  const { place } = await open({ modules: [module], tools, environments });
  await until(async () => place.pids.length === 2);
  const asked = Array.from({ length: 40 }, () => run(place, [call()], 'device_name'));
  expect(new Set((await Promise.all(asked)).flat())).toEqual(new Set(['first', 'second']));
  await place.dispose();
}, 240_000);

describe('a place that cannot be opened', () => {
  const opened = (options: Partial<ProcessPlaceOptions>) =>
    expect(open(options).then(({ place }) => place.dispose())).rejects;

  it('says which tool there is not, and which setting does not fit', async () => {
    await opened({ tools: [{ name: 'digest_tol' }] }).toThrow(/Did you mean "digest_tool"/);
    await opened({ tools: [{ name: 'faulty', settings: { tols: [] } }] }).toMatchObject({
      code: 'config',
    });
    await opened({ modules: ['file:///no/such/module.js'] }).toThrow(/no file/);
    const broken = await write('broken.ts', 'export const x = ;');
    await opened({ modules: [broken] }).toThrow(/broken\.ts cannot be loaded/);
  }, 240_000);

  it('says so where a process ends at once', async () => {
    const module = await write('ending.ts', 'console.error("no weights"); process.exit(3);');
    await opened({ modules: [module] }).toThrow(/status 3.*no weights/);
  }, 240_000);
});

it('refuses calls at once while its process does not start, and takes them when it does', async () => {
  const flag = join(scratch, 'broken-now');
  const module = await write(
    'flaky.ts',
    `import { existsSync } from 'node:fs';
    if (existsSync(${JSON.stringify(flag)})) process.exit(1);
    export const tool = { name: 'flaky', description: 'x', parameters: { type: 'object' }, example: {},
      async call({ crash }) { if (crash) process.exit(9); return { kind: 'ok', stdout: 'up', stderr: '',
        images: [], truncated: [], wallMs: 0, cpuMs: 0, maxRssKb: 0, tier: 'none' }; } };`,
  );
  const { place } = await open({ modules: [module], tools: [{ name: 'flaky' }] });
  await write('broken-now', '');
  expect(await run(place, [call({ crash: true })], 'flaky')).toEqual(['unavailable']);
  expect(await run(place, [call()], 'flaky')).toEqual(['unavailable']);
  expect(place.problem()).toMatch(/status 1/);
  await rm(flag);
  expect(await until(async () => place.problem() === undefined)).toBe(true);
  expect(await run(place, [call()], 'flaky')).toEqual(['up']);
  await place.dispose();
}, 240_000);

async function write(name: string, text: string): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  const { pathToFileURL } = await import('node:url');
  const path = join(scratch, name);
  await writeFile(path, text);
  return pathToFileURL(path).href;
}
