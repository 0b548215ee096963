/** A training whose network and server fail at random, beside one that nothing disturbs. */
import type { Device } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import type { LocalPolicy, LossFunction, TrainedPolicy } from '@saccade/policy';
import { openRemoteLearner, type RemoteLearner } from '../remote/remote-learner.ts';
import { BASE, groupBatch, processor, TinyServer, weightsOf } from '../tiny-learner.fixture.ts';
import { type FaultPlan, faultyFetch } from './faulty-fetch.fixture.ts';

/** What a training came to. */
export interface Outcome {
  readonly weights: Record<string, unknown>;
  readonly gradNorms: readonly number[];
  readonly version: number;
  readonly losses: number;
  readonly injected: Readonly<Record<string, number>>;
}

const loss: LossFunction = ({ logprobs }) => ({
  loss: logprobs.reduce((sum, lp) => sum + lp * lp, 0),
  gradLogprobs: logprobs.map((lp, i) => 2 * lp * (i % 3 === 0 ? -0.5 : 1)),
});

const STEPS = 4;

async function train(policy: TrainedPolicy): Promise<readonly number[]> {
  const gradNorms: number[] = [];
  const optimizer = adamw.create({ weightDecay: 0.1 });
  for (let step = 0; step < STEPS; step++) {
    for (const part of [0, 1]) {
      const batch = await groupBatch(2 * step + part, { children: 2 });
      await policy.forwardBackward(batch, loss);
    }
    gradNorms.push((await policy.optimizerStep({ learningRate: 1e-2, optimizer })).gradNorm);
  }
  return gradNorms;
}

/** Trains through a server of its own, with faults as planned. */
export async function trainThrough(device: Device, plan: FaultPlan): Promise<Outcome> {
  const server = new TinyServer(device);
  const faulty = faultyFetch(server.fetch, plan, () => server.restart());
  let remote: RemoteLearner | undefined;
  try {
    remote = await openRemoteLearner({
      baseUrl: server.url,
      fetch: faulty.fetch,
      processor,
      request: { baseModel: BASE },
      firstPauseSeconds: 0.001,
      longestPauseSeconds: 0.01,
      lookSeconds: 0.001,
      recoverySteps: 2,
      maxLosses: 1000,
      retries: 20,
    });
    const gradNorms = await train(remote);
    const served = server.host.model(remote.model.id).learner.policy as LocalPolicy;
    return {
      weights: await weightsOf(served),
      gradNorms,
      version: remote.version,
      losses: remote.losses,
      injected: faulty.injected,
    };
  } finally {
    await remote?.dispose();
    await server.dispose();
  }
}
