/** Values beside log-probs: they are learned, saved apart, and change nothing else. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { sgd } from '@saccade/optim';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PackedBatch } from './batch.ts';
import { contractRequest, scoringBatch, squares } from './contract.ts';
import type { LocalPolicy } from './local-policy.ts';
import { createLocalPolicy, loadLocalPolicy } from './open-policy.ts';
import { noiseImage, tinyModel, tinyPolicy, tinyProcessor } from './tiny-policy.fixture.ts';

let device: Device;
let batch: PackedBatch;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  const policy = tinyPolicy(device);
  const prompt = tinyProcessor.encodePrompt([
    { kind: 'image', image: noiseImage(56, 56, 1) },
    { kind: 'text', text: 'Which digit?' },
  ]);
  const results = await Promise.all(
    [1, 2].map((n) => policy.sample(contractRequest(prompt, `v${n}`, n, { maxTokens: 6 }))),
  );
  batch = scoringBatch(prompt, results, true);
  policy.dispose();
});
afterAll(() => device.dispose());

const withValues = (): LocalPolicy =>
  createLocalPolicy({
    device,
    model: tinyModel,
    processor: tinyProcessor,
    seed: 1,
    valueHead: true,
  });

/** Half the squared distance from targets, one per scored token. */
async function regress(policy: LocalPolicy, targets: readonly number[]): Promise<number> {
  const { loss } = await policy.forwardBackward(batch, ({ logprobs, values = [] }) => {
    const errors = Float32Array.from(values, (value, i) => value - (targets[i] ?? 0));
    return {
      loss: errors.reduce((sum, error) => sum + (error * error) / 2, 0),
      gradLogprobs: new Float32Array(logprobs.length),
      gradValues: errors,
    };
  });
  return loss;
}

it('predicts 0 at first, and scores as the policy without a value head', async () => {
  const [plain, policy] = [tinyPolicy(device), withValues()];
  const { values, ...scores } = await policy.score(batch);
  expect(await plain.score(batch)).toEqual(scores);
  expect(values).toEqual(new Float32Array(batch.rows.length));
  plain.dispose();
  policy.dispose();
});

it('learns returns that differ token by token', async () => {
  const policy = withValues();
  const targets = Array.from(batch.rows, (_, i) => Math.sin(i));
  const first = await regress(policy, targets);
  expect(first).toBeCloseTo(
    targets.reduce((sum, target) => sum + target ** 2 / 2, 0),
    5,
  );
  for (let step = 0; step < 60; step++) {
    await policy.optimizerStep({ learningRate: 1e-2 });
    await regress(policy, targets);
  }
  expect(await regress(policy, targets)).toBeLessThan(first / 20);
  policy.dispose();
});

it('gives the gradients of the hidden states: they are those of central differences', async () => {
  const policy = withValues();
  const targets = Array.from(batch.rows, (_, i) => Math.cos(i));
  await regress(policy, targets);
  await policy.optimizerStep({ learningRate: 3e-2 });
  const name = 'model.norm.weight';
  const weight = Float32Array.from((await policy.parameters[name]?.read()) ?? []);
  await regress(policy, targets);
  // A step of plain gradient descent is the gradient times the rate.
  const at = async (index: number, delta: number): Promise<number> => {
    const moved = weight.slice();
    moved[index] = (moved[index] ?? 0) + delta;
    policy.parameters[name]?.write(moved);
    const { values = [] } = await policy.score(batch);
    const errors = Array.from(values, (value, i) => value - (targets[i] ?? 0));
    return errors.reduce((sum, error) => sum + error ** 2 / 2, 0);
  };
  const slope = ((await at(3, 1e-2)) - (await at(3, -1e-2))) / 2e-2;
  policy.parameters[name]?.write(weight);
  policy.resetOptimizer();
  await policy.optimizerStep({
    learningRate: 1e-3,
    optimizer: sgd.create({ momentum: 0, maxGradNorm: 0 }),
  });
  const after = (await policy.parameters[name]?.read()) ?? [];
  const gradient = ((weight[3] ?? 0) - (after[3] ?? 0)) / 1e-3;
  expect(Math.abs(slope)).toBeGreaterThan(1e-3);
  expect(gradient / slope).toBeCloseTo(1, 1);
  policy.dispose();
});

it('is saved in a file of its own, and starts anew from weights without one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'saccade-values-'));
  try {
    const policy = withValues();
    await regress(policy, Array(batch.rows.length).fill(1));
    await policy.optimizerStep({ learningRate: 1e-2 });
    await policy.save(directory, { optimizer: true });
    expect(await readdir(directory)).toContain('value_head.safetensors');
    const loaded = await loadLocalPolicy({ device, directory });
    await loaded.load(directory, { optimizer: true });
    expect(await loaded.score(batch)).toEqual(await policy.score(batch));
    await rm(join(directory, 'value_head.safetensors'));
    await loaded.load(directory);
    expect((await loaded.score(batch)).values).toEqual(new Float32Array(batch.rows.length));
    const plain = await loadLocalPolicy({ device, directory });
    expect((await plain.score(batch)).values).toBeUndefined();
    for (const one of [policy, loaded, plain]) one.dispose();
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('says that a policy without a value head has no values to learn', async () => {
  const plain = tinyPolicy(device);
  await expect(regress(plain, [])).rejects.toThrow(
    new ConfigError(
      'valueHead',
      'The loss has a gradient for values, but the policy predicts none. ' +
        'Create it with valueHead: true.',
    ),
  );
  await plain.forwardBackward(batch, squares);
  plain.dispose();
});
