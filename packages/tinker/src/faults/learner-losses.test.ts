/** What a learner does without room: on its disk, for models, for weights of engines. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LocalPolicy, LossFunction } from '@saccade/policy';
import { openPolicyService } from '@saccade/policy/serve';
import { afterAll, describe, expect, it } from 'vitest';
import { openRemoteLearner, type RemoteLearnerOptions } from '../remote/remote-learner.ts';
import { SavedPaths } from '../serve/saved-paths.ts';
import {
  BASE,
  groupBatch,
  processor,
  TinyServer,
  tinyDevice,
  tinyModels,
  weightsOf,
} from '../tiny-learner.fixture.ts';

const device = tinyDevice();
const folder = mkdtempSync(join(tmpdir(), 'saccade-losses-'));
afterAll(() => {
  device.dispose();
  rmSync(folder, { recursive: true });
});

const connect = (server: TinyServer, options: Partial<RemoteLearnerOptions> = {}) =>
  openRemoteLearner({
    baseUrl: server.url,
    fetch: server.fetch,
    processor,
    request: { baseModel: BASE },
    firstPauseSeconds: 0.001,
    longestPauseSeconds: 0.01,
    lookSeconds: 0.001,
    retries: 2,
    ...options,
  });

const loss: LossFunction = ({ logprobs }) => ({
  loss: 0,
  gradLogprobs: logprobs.map((lp) => 2 * lp),
});

async function train(remote: Awaited<ReturnType<typeof connect>>, from: number, to: number) {
  for (let step = from; step < to; step++) {
    await remote.forwardBackward(await groupBatch(step, { children: 2, image: false }), loss);
    await remote.optimizerStep({ learningRate: 1e-2 });
  }
}

describe('a learner whose disk takes nothing', () => {
  it('goes on without saves for a loss, and ends with the same bits after one', async () => {
    const said: string[] = [];
    const server = new TinyServer(device);
    const whole = new TinyServer(device);
    const remote = await connect(server, {
      recoverySteps: 1,
      onEvent: (event) => event.kind === 'warning' && said.push(event.message),
    });
    const other = await connect(whole);
    await train(remote, 0, 2);
    // Its weights cannot be written any more: a file is where their folder would be.
    const own = join(server.directory, remote.model.id);
    const [first = ''] = readdirSync(join(own, 'weights'));
    rmSync(join(own, 'weights'), { recursive: true });
    writeFileSync(join(own, 'weights'), '');
    await train(remote, 2, 4);
    expect(first).toMatch(/recovery/);
    expect(said.at(-1)).toMatch(
      /Weights could not be written .*(EEXIST|ENOTDIR).*Make room where the learner/,
    );
    await expect(remote.save(join(folder, 'full'), { optimizer: true })).rejects.toThrow(
      /Weights could not be written/,
    );
    expect(existsSync(join(folder, 'full'))).toBe(false);
    // There is room again.
    rmSync(join(own, 'weights'));
    await train(remote, 4, 5);
    await server.restart();
    await train(remote, 5, 6);
    await train(other, 0, 6);
    expect(remote.losses).toBe(1);
    expect(remote.version).toBe(6);
    const policyOf = (of: TinyServer, by: typeof remote) =>
      of.host.model(by.model.id).learner.policy as LocalPolicy;
    expect(await weightsOf(policyOf(server, remote))).toEqual(
      await weightsOf(policyOf(whole, other)),
    );
    for (const one of [remote, other]) await one.dispose();
    await server.dispose();
    await whole.dispose();
  });

  it('keeps what was there, and leaves nothing half written', async () => {
    const saved = new SavedPaths(join(folder, 'saved'));
    const { uri, directory } = saved.newPath('m', 'weights', 'one');
    const fill = (text: string) => async (into: string) => {
      await mkdir(into);
      await writeFile(join(into, 'weights'), text);
    };
    await saved.write(directory, fill('first'));
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const failing = saved.write(directory, async (into) => {
      await fill('half')(into);
      throw full;
    });
    await expect(failing).rejects.toMatchObject({ fault: 'disk', category: 'server' });
    expect(readdirSync(join(directory, '..'))).toEqual(['one']);
    // A server that was killed between moving the old and the new one.
    rmSync(`${directory}.replaced`, { recursive: true, force: true });
    await saved.write(`${directory}.replaced`, fill('old'));
    rmSync(directory, { recursive: true });
    expect(saved.directoryOf(uri)).toBe(`${directory}.replaced`);
  });
});

describe('a server without room for another model', () => {
  it('gives up that of a client that was killed, and of no other', async () => {
    const server = new TinyServer(device, { maxModels: 1, silentSeconds: 0.2 });
    // Killed: it says nothing any more, and did not say good-bye.
    const killed = await connect(server, { heartbeatSeconds: 3600 });
    await new Promise((resolve) => setTimeout(resolve, 250));
    const next = await connect(server, { heartbeatSeconds: 0.05 });
    expect(() => server.host.model(killed.model.id)).toThrow(/no model/);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await expect(connect(server, { deadlineSeconds: 0.2 })).rejects.toThrow(
      /1 models are open, as many as there may be/,
    );
    await train(next, 0, 1);
    expect(next.losses).toBe(0);
    // Whoever was only silent goes on with a model of its own, once there is room.
    await next.dispose();
    await train(killed, 0, 1);
    expect(killed.losses).toBe(1);
    await killed.dispose();
    await server.dispose();
  });
});

describe('weights for engines', () => {
  it('are kept of the newest version alone', async () => {
    const server = new TinyServer(device);
    const { policy } = await tinyModels(device).open({ baseModel: BASE });
    const service = await openPolicyService({ policy: policy as LocalPolicy, model: BASE });
    const remote = await connect(server);
    const urls = [service.url, service.url];
    for (const step of [0, 1, 2]) {
      await train(remote, step, step + 1);
      const { served } = await remote.publish({ kind: 'disk', urls });
      expect(served.map(({ version }) => version)).toEqual([`${step + 1}`, `${step + 1}`]);
    }
    const published = join(server.directory, remote.model.id, 'published');
    expect(readdirSync(published)).toEqual(['version-00000003']);
    await service.drain(1);
    // An engine that is gone is no fault of the run: whoever samples there waits for it.
    await expect(remote.publish({ kind: 'disk', urls })).rejects.toMatchObject({
      code: 'engine',
      fault: 'broken',
    });
    await remote.dispose();
    await policy.dispose();
    await server.dispose();
  });
});
