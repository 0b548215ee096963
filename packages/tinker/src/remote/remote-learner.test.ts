import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adamw, sgd } from '@saccade/optim';
import {
  createLocalPolicy,
  type LocalPolicy,
  type LossFunction,
  type TrainedPolicy,
} from '@saccade/policy';
import {
  checkConversationReuse,
  checkSampledEqualsScored,
  checkScoresAreBatchInvariant,
  checkSumSquaredProbs,
  contractRequest,
} from '@saccade/policy/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignServer, type Quirks, skyRlJax } from '../foreign-server.fixture.ts';
import {
  BASE,
  groupBatch,
  model,
  noisePng,
  processor,
  TinyServer,
  tinyDevice,
  weightsOf,
} from '../tiny-learner.fixture.ts';
import { openRemoteLearner, type RemoteLearnerOptions } from './remote-learner.ts';

const device = tinyDevice();
const folder = mkdtempSync(join(tmpdir(), 'saccade-remote-'));
let server: TinyServer;
beforeAll(() => {
  server = new TinyServer(device);
});
afterAll(async () => {
  await server.dispose();
  device.dispose();
  rmSync(folder, { recursive: true });
});

const connect = (options: Partial<RemoteLearnerOptions> = {}, to: Reachable = server) =>
  openRemoteLearner({
    baseUrl: to.url,
    fetch: to.fetch,
    processor,
    request: { baseModel: BASE },
    ...options,
  });
type Reachable = Pick<TinyServer, 'url' | 'fetch'>;
const newLocal = (): LocalPolicy => createLocalPolicy({ device, model, processor, seed: 1 });

/** A loss with gradients of log-probs, of either sign. */
const plainLoss: LossFunction = ({ logprobs }) => ({
  loss: logprobs.reduce((sum, lp) => sum + lp * lp, 0),
  gradLogprobs: logprobs.map((lp, i) => 2 * lp * (i % 2 === 0 ? 1 : -0.5)),
});
const entropyLoss: LossFunction = (scores) => ({
  ...plainLoss(scores),
  gradEntropy: scores.entropy.map(() => -0.1),
});

async function train(
  policy: TrainedPolicy,
  { loss = plainLoss, temperature = 1, steps = 2, seed = 0 } = {},
): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let step = 0; step < steps; step++) {
    for (const part of [0, 1]) {
      const batch = await groupBatch(seed + 2 * step + part);
      numbers.push(...(await policy.forwardBackward(batch, loss, temperature)).logprobs);
    }
    const optimizer = adamw.create({ weightDecay: 0.1, maxGradNorm: 0.5 });
    numbers.push((await policy.optimizerStep({ learningRate: 1e-2, optimizer })).gradNorm);
  }
  return numbers;
}

function servedBy(remote: { model: { id: string } }, from = server): LocalPolicy {
  return from.host.model(remote.model.id).learner.policy as LocalPolicy;
}

describe('a learner elsewhere', () => {
  it('trains to the same bits as a policy of this process, entropies and temperature too', async () => {
    const [local, remote] = [newLocal(), await connect()];
    const how = { loss: entropyLoss, temperature: 0.9 };
    expect(await train(remote, how)).toEqual(await train(local, how));
    expect(remote.version).toBe(2);
    expect(await weightsOf(servedBy(remote))).toEqual(await weightsOf(local));
    await remote.dispose();
    local.dispose();
  });

  it('keeps the contract of policies', async () => {
    const remote = await connect();
    const image = await processor.prepareImage(noisePng(56, 56, 3));
    const prompt = processor.encodePrompt([
      { kind: 'image', image },
      { kind: 'text', text: 'Which digit?' },
    ]);
    await checkSampledEqualsScored(remote, prompt);
    await checkScoresAreBatchInvariant(remote, prompt);
    await checkConversationReuse(remote, prompt);
    await checkSumSquaredProbs(remote, prompt, model.vocabSize);
    await remote.dispose();
  });

  it('samples what a policy of this process samples', async () => {
    const [local, remote] = [newLocal(), await connect()];
    const prompt = processor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]);
    const request = { ...contractRequest(prompt, 'same', 5, { temperature: 0.7 }), topK: 20 };
    const { policyVersion: _, ...want } = await local.sample(request);
    const { policyVersion: __, ...got } = await remote.sample(request);
    expect(got).toEqual(want);
    await remote.dispose();
    local.dispose();
  });

  it('sends an image once, in its own bytes', async () => {
    const remote = await connect();
    server.requests = [];
    for (let i = 0; i < 3; i++) await remote.score(await groupBatch(77));
    const puts = server.requests.filter((request) => request.startsWith('PUT'));
    expect(puts).toHaveLength(1);
    await remote.dispose();
  });

  it('resumes from a checkpoint to the same bits, and refuses one that was changed', async () => {
    const checkpoint = join(folder, 'checkpoint');
    const [whole, first] = [await connect(), await connect()];
    await train(whole, { steps: 3 });
    await train(first, { steps: 2 });
    await first.save(checkpoint, { optimizer: true });
    await first.dispose();
    const second = await connect();
    await second.load(checkpoint, { optimizer: true });
    expect(second.version).toBe(2);
    await train(second, { steps: 1, seed: 4 });
    expect(await weightsOf(servedBy(second))).toEqual(await weightsOf(servedBy(whole)));

    const file = join(checkpoint, 'remote-learner.json');
    const record = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...record, sha256: 'f'.repeat(64) }));
    await expect(second.load(checkpoint)).rejects.toThrow(/other weights under/);
    writeFileSync(file, JSON.stringify({ ...record, baseModel: 'large' }));
    await expect(second.load(checkpoint)).rejects.toThrow(/weights of large/);
    await expect(second.load(folder)).rejects.toThrow(/no remote-learner.json/);
    for (const one of [whole, second]) await one.dispose();
  });

  it('keeps on the server what checkpoints name, and no more', async () => {
    const remote = await connect({ recoverySteps: 1 });
    const weights = join(server.directory, remote.model.id, 'weights');
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    await remote.save(first, { optimizer: true });
    await train(remote, { steps: 3 });
    // Two for a loss, beside the checkpoint's.
    expect(readdirSync(weights)).toHaveLength(3);
    await remote.save(second, { optimizer: true });
    await remote.forget(first);
    await expect(remote.load(first)).rejects.toThrow(/no weights tinker:/);
    // A learner that is lost now begins there.
    await remote.forget(second);
    await train(remote, { steps: 1 });
    await server.restart();
    await train(remote, { steps: 1 });
    expect(remote.losses).toBe(1);
    for (const directory of [first, folder]) await remote.forget(directory);
    await remote.load(second, { optimizer: true });
    await train(remote, { steps: 2 });
    await remote.dispose();
    expect(readdirSync(weights)).toHaveLength(1);
    expect(readdirSync(join(server.directory, remote.model.id, 'weights'))).toEqual([]);
  });

  it('scores by its first weights, and by saved ones, while it trains', async () => {
    const [remote, local] = [await connect(), newLocal()];
    const openWhole = () => Promise.reject(new Error('the reference is not here'));
    const batch = await groupBatch(5);
    const begin = join(folder, 'begin');
    await remote.save(begin);
    const first = await remote.openReference(begin, { openWhole });
    await train(remote);
    const later = join(folder, 'later');
    await remote.save(later);
    const second = await remote.openReference(later, { openWhole });
    const there = (await remote.score(batch)).logprobs;
    expect((await second.score(batch)).logprobs).toEqual(there);
    await train(remote);
    expect((await second.score(batch)).logprobs).toEqual(there);
    expect((await first.score(batch)).logprobs).toEqual((await local.score(batch)).logprobs);
    for (const one of [first, second, remote, local]) await one.dispose();
  });

  it('begins another stage with fresh moments', async () => {
    const [local, remote] = [newLocal(), await connect()];
    for (const policy of [local, remote]) {
      await train(policy, { steps: 1 });
      await policy.resetOptimizer();
      await policy.forwardBackward(await groupBatch(9), plainLoss);
      await policy.optimizerStep({ learningRate: 1e-2, optimizer: sgd.create({ momentum: 0.9 }) });
    }
    expect(await weightsOf(servedBy(remote))).toEqual(await weightsOf(local));
    await remote.dispose();
    local.dispose();
  });

  it('names what a learner without value head, or with other settings, cannot', async () => {
    const remote = await connect();
    const values: LossFunction = (scores) => ({
      ...plainLoss(scores),
      gradValues: scores.logprobs,
    });
    await expect(remote.forwardBackward(await groupBatch(1), values)).rejects.toThrow(/values/);
    expect(() => remote.configureEngine({ kvCache: 'bf16' })).toThrow(/local kernels/);
    await expect(remote.save(folder, { merged: true })).rejects.toThrow(/Publish/);
    await expect(remote.optimizerStep({ learningRate: 1 })).rejects.toThrow(/no gradient/);
    await remote.dispose();
    await expect(connect({ request: { baseModel: 'unknown' } })).rejects.toThrow(
      /no base "unknown"/,
    );
  });
});

function expectClose(got: Float32Array, want: Float32Array, gate: number): void {
  const most = Math.max(...got.map((value, i) => Math.abs(value - (want[i] as number))));
  expect(most).toBeLessThan(gate);
}

describe('a plain server', () => {
  const trainThere = async (quirks: Quirks, options: Partial<RemoteLearnerOptions> = {}) => {
    const foreign = new ForeignServer(device, quirks);
    const [local, remote] = [newLocal(), await connect(options, foreign)];
    const [batch, other] = [await groupBatch(3), await groupBatch(4, { children: 2 })];
    try {
      for (const one of [batch, other]) {
        const got = await remote.forwardBackward(one, plainLoss);
        const want = await local.forwardBackward(one, plainLoss);
        expectClose(got.logprobs, want.logprobs, 1e-5);
      }
      const step = { learningRate: 1e-3, optimizer: adamw.create() };
      const [{ gradNorm }, { gradNorm: own }] = [
        await remote.optimizerStep(step),
        await local.optimizerStep(step),
      ];
      expect(gradNorm / own).toBeCloseTo(1, 4);
      const after = await local.score(batch);
      const there = await foreign.policy(remote.model.id).score(batch);
      expectClose(there.logprobs, after.logprobs, 1e-4);
      return { remote, foreign };
    } finally {
      local.dispose();
    }
  };

  it('trains by rows and weighted cross-entropy as by forests, with images', async () => {
    const { remote, foreign } = await trainThere({});
    await expect(remote.score(await groupBatch(1), 0.5)).rejects.toThrow(/temperature 0.5/);
    await expect(remote.forwardBackward(await groupBatch(1), entropyLoss)).rejects.toThrow(
      /entropy: .*gradient for entropies/,
    );
    await remote.dispose();
    foreign.dispose();
  });

  it.each([false, true])(
    'trains through importance sampling where cross-entropy is normalized, by the step: %s',
    async (perStep) => {
      const loss = 'importance_sampling' as const;
      const path = { loss, perToken: true, perDatum: true, perStep, scale: 1 };
      const quirks: Quirks = { ...skyRlJax, images: 'used', ignores: [], meanOfStep: perStep };
      const { remote, foreign } = await trainThere(quirks, { path });
      await remote.dispose();
      foreign.dispose();
    },
  );

  it('keeps polling for a result that takes long, and saves under new names to recover', async () => {
    const foreign = new ForeignServer(device);
    let polls = 0;
    const asked: string[] = [];
    const names = new Set<unknown>();
    const send: typeof fetch = async (input, init) => {
      const url = String(input);
      asked.push(`${init?.method} ${new URL(url).pathname}`);
      if (url.endsWith('/retrieve_future') && polls++ < 8) {
        return Response.json({ detail: 'Timeout waiting for result' }, { status: 408 });
      }
      if (init?.method === 'DELETE') return new Response(null, { status: 204 });
      if (!url.endsWith('/save_weights')) return await foreign.fetch(input, init);
      const { path, model_id } = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array));
      if (names.has(path)) return Response.json({ detail: 'already exists' }, { status: 409 });
      names.add(path);
      return Response.json({ path: `tinker://${model_id}/weights/${path}` });
    };
    const remote = await connect({ recoverySteps: 1, lookSeconds: 0.01, fetch: send }, foreign);
    for (let step = 0; step < 3; step++) {
      await remote.forwardBackward(await groupBatch(step, { image: false }), plainLoss);
      await remote.optimizerStep({ learningRate: 1e-3 });
    }
    expect(names.size).toBe(3);
    const deleted = () => asked.filter((one) => one.startsWith('DELETE'));
    // Of two it is not known yet that nobody begins there.
    expect(deleted()).toHaveLength(1);
    expect(deleted()[0]).toMatch(/training_runs\/.+\/checkpoints\/weights\/.+-recovery-0$/);
    await remote.dispose();
    expect(deleted()).toHaveLength(3);
    foreign.dispose();
  });

  it('samples with a number for each request, which other servers ask for', async () => {
    const foreign = new ForeignServer(device);
    const numbers: unknown[] = [];
    const send: typeof fetch = async (input, init) => {
      const path = new URL(String(input)).pathname;
      const body = () => JSON.parse(new TextDecoder().decode(init?.body as Uint8Array));
      if (path.endsWith('/save_weights_for_sampler')) {
        return Response.json({ path: `tinker://m/${body().path}` });
      }
      if (path.endsWith('/create_sampling_session')) {
        return Response.json({ sampling_session_id: 's' });
      }
      if (!path.endsWith('/asample')) return await foreign.fetch(input, init);
      numbers.push(body().seq_id);
      return Response.json({
        sequences: [{ tokens: [7], logprobs: [-1], stop_reason: 'length' }],
      });
    };
    const remote = await connect({ fetch: send }, foreign);
    const prompt = processor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]);
    const how = { maxTokens: 1, stop: [], temperature: 1, seed: [1, 2] as const };
    for (const conversation of ['a', 'b']) await remote.sample({ ...prompt, ...how, conversation });
    expect(numbers).toEqual([1, 2]);
    await remote.dispose();
    foreign.dispose();
  });

  it('is refused an image that is known by its patches only', async () => {
    const foreign = new ForeignServer(device);
    const remote = await connect({}, foreign);
    const batch = await groupBatch(3);
    const segments = batch.segments.map((segment) => ({
      ...segment,
      images: segment.images.map(({ source: _, ...image }) => image),
    }));
    await expect(remote.score({ ...batch, segments })).rejects.toThrow(/patches only/);
    await remote.dispose();
    foreign.dispose();
  });
});
