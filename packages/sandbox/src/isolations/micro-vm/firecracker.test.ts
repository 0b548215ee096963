import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MachineError } from '../../errors.ts';
import { ensurePython } from '../../python-environment.ts';
import { findCommand, inspectPython, type PythonInterpreter } from '../../python-interpreter.ts';
import { ServerLink } from '../../server-link.ts';
import { type Faults, makeStand, processesWith, type Stand } from './firecracker.fixture.ts';
import type { FirecrackerTimes } from './firecracker-api.ts';

const environment = join(import.meta.dirname, '../../../../../.cache/sandbox-venv');

let interpreter: PythonInterpreter;
let stand: Stand;
beforeAll(async () => {
  interpreter = await inspectPython((await ensurePython(environment)).python);
}, 300_000);
beforeEach(async () => {
  stand = await makeStand(interpreter);
});
afterEach(async () => {
  // Whatever a test was about.
  expect(stand.leftovers()).toEqual([]);
  await stand.remove();
});

describe('a machine by Firecracker', () => {
  it('is saved when its server is ready, and copies of it run code', async (context) => {
    if (findCommand('bwrap') === undefined) {
      return context.skip('bubblewrap, which stands in for a guest, is not installed');
    }
    await stand.remove();
    stand = await makeStand(interpreter, { hasServer: true });
    const original = await ServerLink.start(stand.link);
    expect(original.identity.report).toMatchObject({
      // The "guest" is a process: its kernel is this machine's, which the report notices.
      ...{ kernel: 'shared', machine: { engine: 'firecracker', isJailed: false } },
    });
    const warm = await original.freeze();
    expect(warm).toBeDefined();
    if (warm === undefined) return;
    const link = { ...stand.link, server: { ...stand.link.server, warm } };
    const copies = await Promise.all([ServerLink.start(link), ServerLink.start(link)]);
    for (const [index, copy] of copies.entries()) {
      const session = await copy.open({});
      expect(await session.execute(`x = ${index}\nprint("copy", x)`)).toMatchObject({
        ...{ kind: 'ok', stdout: `copy ${index}\n` },
      });
      expect((await session.execute('print(x + 1)')).stdout).toBe(`${index + 1}\n`);
      await session.dispose();
    }
    await Promise.all(copies.map((copy) => copy.stop()));
    await warm.snapshot.remove();
    const notes = stand.notes();
    const entropies = notes.filter(([kind]) => kind === 'entropy').map(([, value]) => value);
    expect(entropies).toHaveLength(2);
    expect(new Set(entropies).size).toBe(2);
    for (const value of entropies) expect(String(value)).toMatch(/^[0-9a-f]{128}$/);
    const times = notes.filter(([kind]) => kind === 'seconds').map(([, value]) => Number(value));
    expect(times).toHaveLength(2);
    for (const time of times) expect(Math.abs(time - Date.now() / 1000)).toBeLessThan(60);
  }, 120_000);

  it('is asked for what the plan needs, in an order that Firecracker takes', async () => {
    const server = await ServerLink.start(stand.link);
    await server.stop();
    const asked = stand.requests().filter(([route]) => route !== 'GET /');
    const bodies = asked.map(([route, body]) => [route, JSON.parse(body)]);
    expect(bodies).toMatchObject([
      ['PUT /machine-config', { vcpu_count: 1, mem_size_mib: 1024 + 256 + 384 }],
      ['PUT /boot-source', { boot_args: expect.stringMatching(/rdinit=\S+ -- .* 268435456 52$/) }],
      ['PUT /drives/disk', { is_read_only: true, is_root_device: false }],
      ['PUT /entropy', {}],
      ['PUT /vsock', { guest_cid: 3 }],
      ['PUT /actions', { action_type: 'InstanceStart' }],
    ]);
  }, 120_000);

  it('is reached as soon as its guest listens, and again where a connection is reset', async () => {
    await stand.setFaults({ early: 3, reset: 5, 'PUT /actions': 'slow' });
    const server = await ServerLink.start(stand.link);
    await server.checkAlive();
    expect(server.isAlive).toBe(true);
    await server.stop();
  }, 120_000);

  it('ends when its channel ends', async () => {
    const server = await ServerLink.start(stand.link);
    const guest = processesWith(stand.folder).find((line) => line.includes('agent.fixture.py'));
    process.kill(Number(guest?.split(' ')[0]), 'SIGKILL');
    await server.ended;
    expect(server.isAlive).toBe(false);
  }, 120_000);
});

/** Starts, saves, and starts a copy; all that it made is gone when it fails. */
async function life(): Promise<void> {
  const original = await ServerLink.start(stand.link);
  let warm: Awaited<ReturnType<ServerLink['freeze']>>;
  try {
    warm = await original.freeze();
  } catch (error) {
    await original.stop();
    throw error;
  }
  if (warm === undefined) throw new Error('It was not saved.');
  try {
    const server = { ...stand.link.server, warm };
    const copy = await ServerLink.start({ ...stand.link, server });
    await copy.stop();
  } finally {
    await warm.snapshot.remove();
  }
}

function setTimes(some: Partial<FirecrackerTimes>): void {
  Object.assign(stand.machine, { times: { ...stand.machine.times, ...some } });
}

async function expectFailure(faults: Faults, step: string, fact: RegExp): Promise<void> {
  await stand.setFaults(faults);
  const error = await life().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MachineError);
  expect(error).toMatchObject({ engine: 'firecracker', step, code: 'sandbox' });
  const { message } = error as MachineError;
  expect(message).toMatch(fact);
  expect(message).toContain("microVm: { engine: 'qemu' }");
  expect(stand.leftovers()).toEqual([]);
}

const steps = [
  ...['GET /', 'PUT /machine-config', 'PUT /boot-source', 'PUT /drives/disk', 'PUT /entropy'],
  ...['PUT /vsock', 'PUT /actions', 'PATCH /vm', 'PUT /snapshot/create', 'PUT /snapshot/load'],
] as (keyof Faults & `${'GET' | 'PUT' | 'PATCH'} ${string}`)[];

/** One of each kind: its process, a request of the machine's, and a snapshot's two. */
const deadly = ['GET /', 'PUT /actions', 'PUT /snapshot/create', 'PUT /snapshot/load'];
const isSweep = process.env.SACCADE_SWEEP !== undefined;
if (!isSweep) {
  console.info(
    `Firecracker dies at ${deadly.join(', ')}: \`npm run sweep\` has it die at each step.`,
  );
}

/** The compiler widens a computed name to any. */
const at = (step: string, kind: 'refuse' | 'die'): Faults =>
  ({ [step]: kind }) as unknown as Faults;

const dies = /its process ended|socket hang up|ECONNRESET/;

describe('a failure of Firecracker', () => {
  for (const step of steps) {
    it(`at ${step} is told with the step, and leaves nothing`, async () => {
      await expectFailure(at(step, 'refuse'), step, / 400: .*refused in a test/);
      if (isSweep || deadly.includes(step)) await expectFailure(at(step, 'die'), step, dies);
    }, 180_000);
  }

  it('to answer as documented is told as it is', async () => {
    await expectFailure({ 'PUT /vsock': 'hangup' }, 'PUT /vsock', dies);
    await expectFailure({ 'PUT /vsock': 'garbage' }, 'PUT /vsock', /status 500: <html>/);
    await expectFailure({ 'GET /': 'garbage' }, 'GET /', /it answered 500: <html>/);
    setTimes({ answerSeconds: 3 });
    await expectFailure({ 'PUT /vsock': 'silent' }, 'PUT /vsock', /not answer within 3 s/);
  }, 180_000);

  it('to save or load in time is told', async () => {
    setTimes({ savingSeconds: 3 });
    const [create, load] = ['PUT /snapshot/create', 'PUT /snapshot/load'] as const;
    await expectFailure({ [create]: 'silent' }, create, /not answer within 3 s/);
    await expectFailure({ [load]: 'silent' }, load, /not answer within 3 s/);
  }, 180_000);

  it('before it listens is told with what it said', async () => {
    await expectFailure({ start: 'die' }, 'GET /', /its process ended.*cannot open \/dev\/kvm/);
    setTimes({ listenSeconds: 3 });
    await expectFailure({ start: 'deaf' }, 'GET /', /ENOENT/);
  }, 120_000);

  it('to reach the guest is told with what came last', async () => {
    // Long enough to come as far as the guest on a busy machine.
    setTimes({ startSeconds: 8 });
    // A machine that stood still for all of it has seen no end of a connection.
    const last = /no server .* within 8 s \((the connection was closed|it is silent)\)/;
    await expectFailure({ guest: 'never' }, 'CONNECT 52', last);
    await expectFailure({ babble: 'hello\n' }, 'CONNECT 52', /the guest answered "hello"/);
    await expectFailure({ babble: 'x'.repeat(9_000) }, 'CONNECT 52', /line is too long/);
    await expectFailure({ babble: 'no end' }, 'CONNECT 52', /it is silent/);
  }, 120_000);

  it('to renew a copy ends the copy', async () => {
    await writeFile(join(stand.folder, 'notes.fails'), '');
    await expectFailure(
      {},
      'CONNECT 52',
      /could not be renewed: .*clock of the copy cannot be set/,
    );
  }, 120_000);

  it('to find a file is told in its own words', async () => {
    const disk = join(stand.folder, 'nowhere');
    Object.assign(stand.machine, { image: { ...stand.machine.image, disk } });
    await expectFailure({}, 'PUT /drives/disk', /Cannot open disk/);
    expect(existsSync(disk)).toBe(false);
  }, 120_000);
});
