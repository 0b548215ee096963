import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeBackend } from '@saccade/backend-native';
import { ConfigError, DataError, StateError } from '@saccade/core';
import { readSafetensors, writeSafetensors } from '@saccade/nn/files';
import { type Device, openDevice } from '@saccade/ops';
import { adamw, createOptimizer, optimizers } from '@saccade/optim';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PackedBatch } from './batch.ts';
import { contractRequest, scoringBatch, squares } from './contract.ts';
import type { LocalPolicy } from './local-policy.ts';
import { createLocalPolicy } from './open-policy.ts';
import { tinyModel, tinyPolicy, tinyProcessor } from './tiny-policy.fixture.ts';

let device: Device;
let batch: PackedBatch;
let directory: string;
beforeAll(async () => {
  device = openDevice(nativeBackend({ threads: 2 }));
  directory = await mkdtemp(join(tmpdir(), 'saccade-training-state-'));
  const policy = tinyPolicy(device);
  const prompt = tinyProcessor.encodePrompt([{ kind: 'text', text: 'Which digit?' }]);
  const result = await policy.sample(contractRequest(prompt, 'once', 1));
  policy.release('once');
  batch = scoringBatch(prompt, [result], true);
  policy.dispose();
});
afterAll(async () => {
  device.dispose();
  await rm(directory, { recursive: true });
});

async function train(policy: LocalPolicy, steps: number, name = 'adamw') {
  const optimizer = createOptimizer({ name });
  for (let step = 0; step < steps; step++) {
    await policy.forwardBackward(batch, squares);
    await policy.optimizerStep({ learningRate: 1e-3, optimizer });
  }
}

async function weightsOf(policy: LocalPolicy) {
  const weights: Record<string, readonly number[]> = {};
  for (const [name, weight] of Object.entries(policy.parameters)) {
    weights[name] = [...(await weight.read())];
  }
  return weights;
}

describe.each(optimizers.names)('a policy stepped with %s', (name) => {
  it('resumes from disk with the bits of an uninterrupted run', async () => {
    const whole = tinyPolicy(device);
    await train(whole, 4, name);
    const first = tinyPolicy(device);
    await train(first, 2, name);
    const folder = join(directory, name);
    await first.save(folder, { optimizer: true });
    const second = tinyPolicy(device, 9);
    await second.load(folder, { optimizer: true });
    // State that was loaded and not yet stepped with is saved as it was.
    await second.save(join(directory, `${name}-again`), { optimizer: true });
    for (const file of ['optimizer.json', 'optimizer.safetensors']) {
      const saved = await readFile(join(folder, file));
      expect(saved.equals(await readFile(join(directory, `${name}-again`, file)))).toBe(true);
    }
    expect(second.version).toBe(2);
    await train(second, 2, name);
    expect(await weightsOf(second)).toEqual(await weightsOf(whole));
    for (const policy of [whole, first, second]) policy.dispose();
  });
});

it('writes the files of versions that knew AdamW alone', async () => {
  const policy = tinyPolicy(device);
  await train(policy, 1);
  const folder = join(directory, 'old');
  await policy.save(folder, { optimizer: true });
  expect(JSON.parse(await readFile(join(folder, 'optimizer.json'), 'utf8'))).toEqual({
    step: 1,
    version: 1,
  });
  const file = join(folder, 'optimizer.safetensors');
  const names = Object.keys(policy.parameters);
  const arrays = await readSafetensors(file);
  expect([...arrays.keys()].sort()).toEqual(
    names.flatMap((name) => [`m.${name}`, `v.${name}`]).sort(),
  );
  policy.dispose();
});

it('names the directory and the entry where a state on disk does not fit', async () => {
  const policy = tinyPolicy(device);
  await train(policy, 1);
  const folder = join(directory, 'damaged');
  await policy.save(folder, { optimizer: true });
  const before = await weightsOf(policy);
  await policy.load(folder, { optimizer: true });
  await policy.forwardBackward(batch, squares);
  const lion = policy.optimizerStep({
    learningRate: 1,
    optimizer: createOptimizer({ name: 'lion' }),
  });
  await expect(lion).rejects.toThrow(DataError);
  await expect(lion).rejects.toThrow(/damaged is not a state of lion/);
  const file = join(folder, 'optimizer.safetensors');
  const arrays = new Map(await readSafetensors(file));
  const [key = ''] = arrays.keys();
  arrays.delete(key);
  await writeSafetensors(file, arrays);
  await policy.load(folder, { optimizer: true });
  await policy.forwardBackward(batch, squares);
  await expect(policy.optimizerStep({ learningRate: 1 })).rejects.toThrow(key);
  expect(await weightsOf(policy)).toEqual(before);
  await writeFile(join(folder, 'optimizer.json'), '{"step": "one", "version": 1}');
  await expect(policy.load(folder, { optimizer: true })).rejects.toThrow(/must hold numbers/);
  policy.dispose();
});

it('steps with another optimizer only after resetOptimizer, with other settings at any time', async () => {
  const policy = tinyPolicy(device);
  await train(policy, 1);
  await policy.forwardBackward(batch, squares);
  await policy.optimizerStep({ learningRate: 1e-3, optimizer: adamw.create({ beta2: 0.9 }) });
  await policy.forwardBackward(batch, squares);
  const other = { learningRate: 1e-3, optimizer: createOptimizer({ name: 'muon' }) };
  await expect(policy.optimizerStep(other)).rejects.toThrow(StateError);
  policy.resetOptimizer();
  expect((await policy.optimizerStep(other)).isSkipped).toBe(false);
  policy.dispose();
});

it('changes nothing for a gradient that is not a number, and says so', async () => {
  const policy = tinyPolicy(device);
  await train(policy, 1);
  const before = await weightsOf(policy);
  await policy.forwardBackward(batch, ({ logprobs }) => ({
    loss: 0,
    gradLogprobs: logprobs.map(() => Number.NaN),
  }));
  const { gradNorm, isSkipped } = await policy.optimizerStep({ learningRate: 1 });
  expect([isSkipped, Number.isNaN(gradNorm)]).toEqual([true, true]);
  expect(await weightsOf(policy)).toEqual(before);
  policy.dispose();
});

describe('a policy of which only some parameters train', () => {
  const create = (trainable: readonly string[]) =>
    createLocalPolicy({ device, model: tinyModel, processor: tinyProcessor, seed: 1, trainable });

  it('steps those alone, as if the others were constants, and keeps moments for them alone', async () => {
    const all = tinyPolicy(device);
    const names = Object.keys(all.parameters).filter((name) => /^model\..*norm/.test(name));
    expect(names.length).toBeGreaterThan(1);
    const policy = create(names);
    expect(policy.trainable).toEqual(names);
    const start = await weightsOf(policy);
    await train(policy, 2);
    const end = await weightsOf(policy);
    for (const [name, weights] of Object.entries(end)) {
      const isSame = weights.every((weight, i) => Object.is(weight, start[name]?.[i]));
      expect(isSame, name).toBe(!names.includes(name));
    }
    const folder = join(directory, 'some');
    await policy.save(folder, { optimizer: true });
    const arrays = await readSafetensors(join(folder, 'optimizer.safetensors'));
    expect(arrays.size).toBe(2 * names.length);
    all.dispose();
    policy.dispose();
  });

  it('refuses names that are not parameters', () => {
    expect(() => create(['model.nothing'])).toThrow(ConfigError);
    expect(() => create(['model.nothing'])).toThrow(/no parameter "model.nothing"/);
  });
});
