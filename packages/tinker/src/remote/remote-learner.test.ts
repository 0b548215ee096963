import { adamw } from '@saccade/optim';
import { createLocalPolicy, type LossFunction, type TrainedPolicy } from '@saccade/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BASE,
  groupBatch,
  model,
  processor,
  TinyServer,
  tinyDevice,
  weightsOf,
} from '../tiny-learner.fixture.ts';
import { openRemoteLearner, type RemoteLearner } from './remote-learner.ts';

const device = tinyDevice();
let server: TinyServer;
beforeAll(() => {
  server = new TinyServer(device);
});
afterAll(async () => {
  await server.dispose();
  device.dispose();
});

const connect = (): Promise<RemoteLearner> =>
  openRemoteLearner({
    ...{ baseUrl: server.url, fetch: server.fetch, processor, request: { baseModel: BASE } },
  });

/** A loss with gradients of log-probs and of entropies. */
const loss: LossFunction = ({ logprobs, entropy }) => ({
  loss: logprobs.reduce((sum, lp) => sum + lp * lp, 0) - 0.1 * entropy.reduce((a, b) => a + b, 0),
  gradLogprobs: logprobs.map((lp, i) => 2 * lp * (i % 2 === 0 ? 1 : -0.5)),
  gradEntropy: logprobs.map(() => -0.1),
});

async function train(policy: TrainedPolicy, steps = 2) {
  const results = [];
  for (let step = 0; step < steps; step++) {
    for (const seed of [2 * step, 2 * step + 1]) {
      const { logprobs } = await policy.forwardBackward(await groupBatch(seed), loss, 0.9);
      results.push(...logprobs);
    }
    const optimizer = adamw.create({ weightDecay: 0.1, maxGradNorm: 0.5 });
    results.push((await policy.optimizerStep({ learningRate: 1e-2, optimizer })).gradNorm);
  }
  return results;
}

describe('a learner elsewhere', () => {
  it('trains to the same bits as a policy of this process', async () => {
    const local = createLocalPolicy({ device, model, processor, seed: 1 });
    const remote = await connect();
    expect(await train(remote)).toEqual(await train(local));
    expect(remote.version).toBe(2);
    const served = server.host.model(remote.model.id).learner.policy as typeof local;
    expect(await weightsOf(served)).toEqual(await weightsOf(local));
    await remote.dispose();
    local.dispose();
  });
});
