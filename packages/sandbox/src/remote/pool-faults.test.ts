/** A pool of hosts whose members die, hang, answer nonsense, are drained, and come back. */
import { randomAt } from '@saccade/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, statsOf, until } from '../service.fixture.ts';
import type { SandboxService } from '../service.ts';
import { type Fault, type FaultyHost, startFaulty } from './faulty-host.fixture.ts';
import { openRemoteSandbox, type RemoteSandbox } from './remote-sandbox.ts';

let services: readonly SandboxService[];
let hosts: readonly FaultyHost[];
let sandbox: RemoteSandbox | undefined;
const said: string[] = [];

beforeAll(async () => {
  services = await Promise.all([1, 2, 3].map(() => startService({ idleSeconds: 2 })));
}, 300_000);
afterAll(() => Promise.all(services.map((service) => service.drain())));
beforeEach(async () => {
  said.length = 0;
  hosts = await Promise.all(services.map(({ url }) => startFaulty(url)));
});
afterEach(async () => {
  for (const host of hosts) await host.set('pass');
  await sandbox?.dispose();
  await Promise.all(hosts.map((host) => host.close()));
});

const COUNT = 'n = globals().get("n", 0) + 1\nprint(n)';
const SLEEP = 'import time\ntime.sleep(30)';

async function openPool(
  count: number,
  options: { readonly lostSeconds?: number; readonly patienceSeconds?: number } = {},
): Promise<RemoteSandbox> {
  sandbox = await openRemoteSandbox({
    hosts: hosts.slice(0, count).map(({ url }) => url),
    ...{ checkSeconds: 0.2, lostSeconds: 0.6, asideSeconds: 1, ...options },
    onEvent: (event) => said.push(event.kind === 'warning' ? event.message : event.kind),
  });
  return sandbox;
}

const stateOf = (pool: RemoteSandbox, index: number): string =>
  pool.hosts()[index]?.state ?? 'unknown';

function host(index: number): FaultyHost {
  const found = hosts[index];
  if (found === undefined) throw new Error(`there is no host ${index}`);
  return found;
}

function service(index: number): SandboxService {
  const found = services[index];
  if (found === undefined) throw new Error(`there is no service ${index}`);
  return found;
}

describe('a host that hangs', () => {
  it('loses its executions as faults of the sandbox, not those of the others', async () => {
    const pool = await openPool(2);
    const sessions = [await pool.open(), await pool.open()];
    const running = sessions.map((session) =>
      session.execute(`import time\ntime.sleep(1.5)\n${COUNT}`),
    );
    await host(0).set('hang');
    const outcomes = await Promise.all(running);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['infraError', 'ok']);
    const lost = outcomes.find(({ kind }) => kind === 'infraError');
    expect(lost?.error?.message).toMatch(/is away: it does not answer/);
    expect(said.join('\n')).toMatch(/takes no sessions: it does not answer. 1 of 2 hosts/);
  });

  it('holds up no session that is being opened, and gets some again when it is back', async () => {
    const pool = await openPool(2, { lostSeconds: 60 });
    await host(0).set('hang');
    const sessions = await Promise.all(Array.from({ length: 4 }, () => pool.open()));
    for (const session of sessions) expect((await session.execute(COUNT)).stdout).toBe('1\n');
    expect(pool.hosts().map(({ sessions: open }) => open)).toEqual([0, 4]);
    await host(0).set('pass');
    expect(await until(async () => stateOf(pool, 0) === 'healthy')).toBe(true);
    await Promise.all(Array.from({ length: 4 }, () => pool.open()));
    expect(pool.hosts().map(({ sessions: open }) => open)).toEqual([4, 4]);
    expect(said.at(-1)).toMatch(/takes sessions again. 2 of 2 hosts are healthy/);
  });
});

describe('a host that was started again', () => {
  it('ends calls that its earlier start will never answer', async () => {
    const pool = await openPool(1, { lostSeconds: 600 });
    const session = await pool.open();
    const running = session.execute(SLEEP);
    await until(async () => (await statsOf(service(0))).running === 1);
    await host(0).set('swallow');
    host(0).aim(service(1).url);
    const { kind, error } = await running;
    expect([kind, error?.message]).toEqual([
      'infraError',
      expect.stringMatching(/was started again, without its sessions/),
    ]);
    expect((await (await pool.open()).execute(COUNT)).stdout).toBe('1\n');
  });
});

describe('a host that answers nonsense', () => {
  it.each(['garbage', 'garbled-calls'] as const)('gets no sessions: %s', async (fault) => {
    const pool = await openPool(2);
    const before = await pool.open();
    await host(0).set(fault);
    const outcome = await before.execute(COUNT);
    expect(['infraError', 'ok']).toContain(outcome.kind);
    for (let round = 0; round < 4; round++) {
      const session = await pool.open();
      expect(await session.execute(COUNT)).toMatchObject({ kind: 'ok', stdout: '1\n' });
    }
    expect(said.join('\n')).toMatch(/takes no sessions/);
  });
});

describe('a host that is drained', () => {
  const drain = (index: number, method: 'POST' | 'DELETE') =>
    fetch(`${service(index).url}/v1/drain`, { method });

  it('keeps its sessions and gets no new ones, until it is let in again', async () => {
    const pool = await openPool(2);
    const [first, second] = [await pool.open(), await pool.open()];
    await first.execute(COUNT);
    expect(await (await drain(0, 'POST')).json()).toMatchObject({ status: 'draining' });
    expect((await fetch(`${service(0).url}/health`)).status).toBe(503);
    await Promise.all([pool.open(), pool.open()]);
    expect(pool.hosts().map(({ sessions }) => sessions)).toEqual([1, 3]);
    expect((await first.execute(COUNT)).stdout).toBe('2\n');
    expect((await second.execute(COUNT)).stdout).toBe('1\n');
    expect(stateOf(pool, 0)).toBe('draining');
    await drain(0, 'DELETE');
    expect(await until(async () => stateOf(pool, 0) === 'healthy')).toBe(true);
    await pool.open();
    expect(pool.hosts().map(({ sessions }) => sessions)).toEqual([2, 3]);
  });

  it('is waited for where it is the only one', async () => {
    const pool = await openPool(1);
    await drain(0, 'POST');
    const opening = pool.open();
    await until(async () => stateOf(pool, 0) === 'draining');
    await drain(0, 'DELETE');
    expect((await (await opening).execute(COUNT)).stdout).toBe('1\n');
  });
});

describe('the load', () => {
  it('counts sessions of other clients', async () => {
    const other = await openRemoteSandbox({ hosts: [service(0).url] });
    try {
      await Promise.all(Array.from({ length: 4 }, () => other.open()));
      const pool = await openPool(2);
      await Promise.all(Array.from({ length: 4 }, () => pool.open()));
      expect(pool.hosts().map(({ sessions }) => sessions)).toEqual([0, 4]);
    } finally {
      await other.dispose();
    }
  });

  it('is shared by how much each host runs at a time', async () => {
    const [wide, narrow] = await Promise.all(
      [6, 2].map((maxRunning) => startService({ sandbox: { maxRunning } })),
    );
    const pool = await openRemoteSandbox({ hosts: [wide?.url ?? '', narrow?.url ?? ''] });
    try {
      for (let opened = 0; opened < 8; opened++) await pool.open();
      expect(pool.hosts().map(({ sessions }) => sessions)).toEqual([6, 2]);
    } finally {
      await pool.dispose();
      await Promise.all([wide?.drain(), narrow?.drain()]);
    }
  });
});

describe('any faults in any order', () => {
  // More of them: SACCADE_POOL_SEEDS=100 npx vitest run packages/sandbox/src/remote/pool-faults.test.ts
  const seeds = Array.from(
    { length: Number(process.env.SACCADE_POOL_SEEDS ?? 1) },
    (_, n) => n + 1,
  );
  const faults: readonly Fault[] = [
    ...(['pass', 'pass', 'hang', 'garbage', 'garbled-calls', 'reset', 'refuse'] as const),
  ];

  it.each(seeds)('run nothing twice and lose no trajectory, seed %i', async (seed) => {
    const pool = await openPool(3);
    const random = randomAt(seed, 'faults');
    let isOver = false;
    const breaking = (async () => {
      while (!isOver) {
        await host(random.integer(hosts.length)).set(random.pick(faults));
        await new Promise((wake) => setTimeout(wake, 20 + random.integer(180)));
      }
      for (const each of hosts) await each.set('pass');
    })();
    let redrawn = 0;
    /** A trajectory of four calls; one that the sandbox fails is drawn again, as a run does. */
    const play = async (): Promise<void> => {
      for (;;) {
        const session = await pool.open();
        const counts: string[] = [];
        for (let call = 0; call < 4; call++) {
          const { kind, stdout } = await session.execute(COUNT);
          if (kind !== 'ok') {
            expect(kind).toBe('infraError');
            break;
          }
          counts.push(stdout);
        }
        await session.dispose();
        // Whatever was answered is right: each call ran once, in a session of its own.
        expect(counts).toEqual(['1\n', '2\n', '3\n', '4\n'].slice(0, counts.length));
        if (counts.length === 4) return;
        redrawn += 1;
      }
    };
    const players = Array.from({ length: 8 }, async () => {
      for (let trajectory = 0; trajectory < 3; trajectory++) await play();
    });
    try {
      await Promise.all(players);
    } finally {
      isOver = true;
      await breaking;
    }
    expect(redrawn).toBeGreaterThan(0);
    expect(pool.stats()).toMatchObject({ open: 0, waiting: 0 });
    expect(await until(async () => pool.hosts().every(({ state }) => state === 'healthy'))).toBe(
      true,
    );
    // Sessions whose opening was answered into the void end when they are idle.
    for (const each of services) {
      expect(await until(async () => (await statsOf(each)).open === 0)).toBe(true);
    }
  });
});
