/** Samples from quantized weights and from weights of 16 bits: whose log-probs they have. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError } from '@saccade/core';
import { allocateQuantized, requantize } from '@saccade/nn';
import { type Device, dequantizeWeight, openDevice, weightDims } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSampledEqualsScored, contractRequest, scoringBatch, squares } from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import type { LoraSettings } from '../lora/adapter.ts';
import { predictMemory } from '../memory/predict-memory.ts';
import { createLocalPolicy, type LocalPolicyOptions, loadLocalPolicy } from '../open-policy.ts';
import { noiseImage, tinyModel, tinyProcessor } from '../tiny-policy.fixture.ts';
import { quantizedLayers } from './sample-weights.ts';

const lora: LoraSettings = {
  rank: 3,
  alpha: 6,
  rsLora: false,
  targets: { language: ['all-linear'] },
};
const prompt = tinyProcessor.encodePrompt([
  { kind: 'image', image: noiseImage(84, 56, 1) },
  { kind: 'text', text: 'Which digit?' },
]);
const BITS = ['int8', 'int4'] as const;

let device: Device;
let directory: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  directory = await mkdtemp(join(tmpdir(), 'saccade-quantized-'));
});
afterAll(async () => {
  device.dispose();
  await rm(directory, { recursive: true });
});

const make = (options: Partial<LocalPolicyOptions> = {}): LocalPolicy =>
  createLocalPolicy({ device, model: tinyModel, processor: tinyProcessor, seed: 1, ...options });

const sampleThree = async (policy: LocalPolicy) => {
  const results = await Promise.all(
    [0, 1, 2].map((i) => policy.sample(contractRequest(prompt, `c${i}`, i))),
  );
  for (const i of [0, 1, 2]) policy.release(`c${i}`);
  return results;
};

async function train(policy: LocalPolicy): Promise<void> {
  const batch = scoringBatch(prompt, [await policy.sample(contractRequest(prompt, 't', 9))], true);
  policy.release('t');
  await policy.forwardBackward(batch, squares);
  await policy.optimizerStep({ learningRate: 0.01, optimizer: adamw.create() });
}

/** Puts into a policy the values that codes and scales of its weights stand for. */
async function roundWeights(policy: LocalPolicy, bits: 4 | 8): Promise<void> {
  for (const layer of quantizedLayers(tinyModel)) {
    const weight = policy.parameters[`${layer}.weight`];
    if (weight === undefined) throw new Error(`There is no ${layer}.`);
    const [rows = 0, columns = 0] = weight.shape;
    const form = { bits, group: bits === 8 ? columns : 64 };
    const quantized = allocateQuantized(weight, form);
    requantize(weight, quantized);
    const [codes, scales] = [await quantized.codes.read(), await quantized.scales.read()];
    weight.write(dequantizeWeight(codes, scales, weightDims(rows, columns, form)));
    quantized.codes.dispose();
    quantized.scales.dispose();
  }
}

/** How far the samples of one policy are from the scores of another, nats. */
async function distance(sampler: LocalPolicy, scorer: LocalPolicy): Promise<number> {
  const results = await sampleThree(sampler);
  const { logprobs } = await scorer.score(scoringBatch(prompt, results, true));
  const sampled = results.flatMap((result) => Array.from(result.logprobs));
  return Math.max(...sampled.map((value, i) => Math.abs(value - (logprobs[i] ?? Number.NaN))));
}

describe.each(BITS)('a policy that samples from %s weights', (sampleWeights) => {
  const bits = sampleWeights === 'int8' ? 8 : 4;

  it('gives the log-probs that scoring gives with the values its codes stand for', async () => {
    const [policy, rounded] = [make(), make()];
    policy.configureEngine({ sampleWeights });
    expect(policy.samplesAsItScores).toBe(false);
    await roundWeights(rounded, bits);
    expect(await distance(policy, rounded)).toBeLessThan(2e-5);
    // It trains with its own weights, from which the samples are a little off.
    expect(await distance(policy, policy)).toBeGreaterThan(1e-3);
    policy.dispose();
    rounded.dispose();
  });

  it('quantizes anew after each step', async () => {
    const [policy, rounded] = [make(), make()];
    policy.configureEngine({ sampleWeights });
    await train(policy);
    for (const [name, weight] of Object.entries(policy.parameters)) {
      rounded.parameters[name]?.write(await weight.read());
    }
    await roundWeights(rounded, bits);
    expect(await distance(policy, rounded)).toBeLessThan(2e-5);
    policy.dispose();
    rounded.dispose();
  });

  it('keeps an adapter beside them, in its own type', async () => {
    const [policy, rounded] = [make({ lora }), make({ lora })];
    policy.configureEngine({ sampleWeights });
    await roundWeights(rounded, bits);
    await train(policy);
    for (const name of policy.trainable) {
      const weight = policy.parameters[name];
      if (weight !== undefined) rounded.parameters[name]?.write(await weight.read());
    }
    expect(await distance(policy, rounded)).toBeLessThan(2e-5);
    policy.dispose();
    rounded.dispose();
  });

  it('goes on after a restart with the same samples', async () => {
    const policy = make();
    policy.configureEngine({ sampleWeights });
    await train(policy);
    const saved = join(directory, sampleWeights);
    await policy.save(saved, { optimizer: true });
    const resumed = await loadLocalPolicy({ device, directory: saved });
    resumed.configureEngine({ sampleWeights });
    await resumed.load(saved, { optimizer: true });
    await train(policy);
    await train(resumed);
    expect(await sampleThree(resumed)).toEqual(await sampleThree(policy));
    policy.dispose();
    resumed.dispose();
  });

  it('takes the memory that the forecast says, and gives it back', async () => {
    const policy = make();
    const before = device.allocatedBytes();
    policy.configureEngine({ sampleWeights });
    const taken = device.allocatedBytes() - before;
    const plan = {
      model: tinyModel,
      processor: tinyProcessor,
      dtype: 'f32',
      training: {},
    } as const;
    const forecast = await predictMemory(plan, {
      optimizer: adamw.create(),
      valueHead: false,
      hasReference: false,
      microBatchTokens: 64,
      contextTokens: 64,
      concurrency: 1,
      engine: { sampleWeights },
    });
    expect(forecast.sampleWeights).toBe(taken);
    policy.configureEngine({});
    expect(device.allocatedBytes()).toBe(before);
    policy.dispose();
  });
});

it('refuses to quantize weights that have an adapter added', () => {
  const policy = make({ lora, samplesMerged: true });
  expect(() => policy.configureEngine({ sampleWeights: 'int8' })).toThrow(ConfigError);
  policy.dispose();
});

describe('a policy of bf16 weights', () => {
  it('samples with the log-probs of training bit for bit, images among them', async () => {
    const policy = make({ dtype: 'bf16' });
    expect(policy.samplesAsItScores).toBe(true);
    await checkSampledEqualsScored(policy, prompt, 0);
    policy.dispose();
  });

  it('trains an adapter and a value head in bf16 with masters in f32', async () => {
    const policy = make({ dtype: 'bf16', lora, valueHead: true });
    await train(policy);
    await checkSampledEqualsScored(policy, prompt, 0);
    const saved = join(directory, 'bf16');
    await policy.save(saved, { optimizer: true });
    const resumed = await loadLocalPolicy({ device, directory: saved });
    await resumed.load(saved, { optimizer: true });
    await train(policy);
    await train(resumed);
    expect(await sampleThree(resumed)).toEqual(await sampleThree(policy));
    policy.dispose();
    resumed.dispose();
  });

  it('samples from quantized weights close to its own', async () => {
    const policy = make({ dtype: 'bf16' });
    policy.configureEngine({ sampleWeights: 'int8' });
    expect(await distance(policy, policy)).toBeLessThan(0.1);
    policy.dispose();
  });

  it('refuses a cache that is wider than activations', () => {
    const policy = make({ dtype: 'bf16' });
    expect(() => policy.configureEngine({ kvCache: 'f32' })).toThrow(/Set it to "own"/);
    policy.dispose();
  });
});
