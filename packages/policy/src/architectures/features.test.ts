/** What trains and what samples, on every architecture at nano size: each has each feature. */
import { adamw } from '@saccade/optim';
import sharp from 'sharp';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { architectures } from '../architecture-registry.ts';
import {
  type ContractPrompt,
  checkConversationReuse,
  checkSampledEqualsScored,
  checkSamplingIsBatchInvariant,
  checkScoresAreBatchInvariant,
  squares,
} from '../contract.ts';
import type { LocalPolicy } from '../local-policy.ts';
import { measuredDevice } from '../measured-device.fixture.ts';
import { predictMemory } from '../memory/predict-memory.ts';
import { nano } from '../model-units/nano.ts';
import { canOpenOwn } from '../processor/open-own.ts';

const corpus = ['Which digit is hidden? <code>image_clue_0.crop((28, 28, 56, 56))</code>'];
const small = {
  ...{ vocabulary: 320, layers: 3, hidden: 64, intermediate: 96 },
  ...{ visionLayers: 3, visionHidden: 32, visionIntermediate: 48 },
};
const everyPart = ['all-linear'];
const lora = { rank: 4, mergerTargets: everyPart, visionTargets: everyPart };

const { device, measurePeak } = measuredDevice();
afterAll(() => device.dispose());

async function promptOf({ processor }: LocalPolicy): Promise<ContractPrompt> {
  const png = await sharp({
    create: { width: 448, height: 448, channels: 3, background: { r: 9, g: 99, b: 199 } },
  })
    .png()
    .toBuffer();
  return processor.encodePrompt([
    { kind: 'text', text: 'Look: ' },
    { kind: 'image', image: await processor.prepareImage(png) },
    { kind: 'text', text: 'Which digit is hidden?' },
  ]);
}

const batchOf = (prompt: ContractPrompt) => {
  const rows = Int32Array.from({ length: 6 }, (_, i) => prompt.tokens.length - 8 + i);
  const targets = rows.map((row) => prompt.tokens[row + 1] ?? 0);
  return { segments: [{ ...prompt, parent: -1 }], rows, targets };
};

/** Windows of attention; experts, with features fed to deeper layers; tiles. The sweep has every architecture. */
const FEW = ['qwen2_5_vl', 'qwen3_vl_moe', 'smolvlm'];
const isSweep = process.env.SACCADE_SWEEP !== undefined;
const tested = architectures.names
  .filter(canOpenOwn)
  .filter((name) => isSweep || FEW.includes(name));
if (!isSweep) console.info(`Of architectures: ${tested.join(', ')}; \`npm run sweep\` has all.`);

describe.each(tested)('%s', (architecture) => {
  const settingsOf = (more: object) => nano.settings.parse({ architecture, ...small, ...more });
  const policies: LocalPolicy[] = [];
  const open = async (more: object = {}) => {
    const options = { device, seed: 1, valueHead: false, corpus };
    const policy = await nano.open(settingsOf(more), options);
    policies.push(policy);
    return policy;
  };
  beforeEach(() => () => {
    for (const policy of policies.splice(0)) policy.dispose();
  });
  /** A step of training; what it gave, and the weights after it. */
  const step = async (policy: LocalPolicy) => {
    const batch = batchOf(await promptOf(policy));
    const { logprobs } = await policy.forwardBackward(batch, squares);
    const { gradNorm } = await policy.optimizerStep({
      learningRate: 0.01,
      optimizer: adamw.create(),
    });
    const after = await policy.score(batch);
    return { logprobs: [...logprobs], gradNorm, after: [...after.logprobs] };
  };

  it.each([
    ['all weights', {}],
    ['an adapter of every part', { lora }],
  ])('samples what it scores, alone and in company, with %s', async (_, more) => {
    const policy = await open(more);
    await step(policy);
    const prompt = await promptOf(policy);
    await checkSampledEqualsScored(policy, prompt);
    await checkSamplingIsBatchInvariant(policy, [prompt, prompt]);
    await checkScoresAreBatchInvariant(policy, prompt);
    await checkConversationReuse(policy, prompt);
  });

  it.each([
    ['all weights', {}],
    ['an adapter of every part', { lora }],
    ['the tower and the merger', { trainable: ['vision', 'merger'] }],
    ['the decoder', { trainable: ['language'] }],
  ])('trains %s to the same bits when it computes activations again', async (_, more) => {
    const kept = await step(await open(more));
    const again = await step(await open({ ...more, recompute: true }));
    expect(kept.gradNorm).toBeGreaterThan(0);
    expect(kept.after).not.toEqual(kept.logprobs);
    expect(again).toEqual(kept);
  });

  it('changes nothing outside of the parts that train', async () => {
    for (const part of ['language', 'merger', 'vision']) {
      const [before, policy] = [await open(), await open({ trainable: [part] })];
      await step(policy);
      const trained = new Set(policy.trainable);
      for (const [name, weight] of Object.entries(policy.parameters)) {
        const same = await before.parameters[name]?.readStored();
        if (!trained.has(name)) expect([name, await weight.readStored()]).toEqual([name, same]);
      }
      expect(trained.size).toBeGreaterThan(0);
    }
  });

  it('begins an adapter at its base, and samples from merged copies as with it', async () => {
    const base = await open();
    const adapted = await open({ lora: { ...lora, sampling: 'merged' } });
    const batch = batchOf(await promptOf(base));
    const { logprobs } = await base.score(batch);
    expect([...(await adapted.score(batch)).logprobs]).toEqual([...logprobs]);
    await step(adapted);
    await checkSampledEqualsScored(adapted, await promptOf(adapted), 1e-3);
  });

  it.each([
    ['all weights', {}],
    ['an adapter of every part, recomputed', { lora, recompute: true }],
  ])('takes the memory that is foretold, training %s', async (_, more) => {
    const settings = settingsOf({ ...more, hidden: 128, intermediate: 384, visionHidden: 64 });
    const plan = await nano.plan?.(settings, { corpus });
    if (plan === undefined) throw new Error('nano says nothing before it is made.');
    const [image] = (await promptOf(await open())).images;
    const workload = {
      ...{ optimizer: adamw.create(), valueHead: false, hasReference: false },
      ...{ microBatchTokens: 128, contextTokens: 128, concurrency: 1 },
      ...(image && { images: { image, perContext: 1 } }),
    };
    const forecast = await predictMemory(plan, workload);
    for (const policy of policies.splice(0)) policy.dispose();
    const before = device.allocatedBytes();
    const peakSince = measurePeak();
    const policy = await nano.open(settings, { device, seed: 1, valueHead: false, corpus });
    policies.push(policy);
    expect(device.allocatedBytes() - before).toBe(forecast.weights + forecast.adapter);
    const prompt = await promptOf(policy);
    const tokens = new Int32Array(128).fill(7);
    tokens.set(prompt.tokens);
    const rows = Int32Array.from({ length: 127 }, (_, i) => i);
    const targets = new Int32Array(127).fill(9);
    const batch = { segments: [{ tokens, images: prompt.images, parent: -1 }], rows, targets };
    for (let steps = 0; steps < 2; steps++) {
      // Gradients of the second add to those of the first.
      for (let parts = 0; parts < 2; parts++) await policy.forwardBackward(batch, squares);
      await policy.optimizerStep({ learningRate: 1e-3, optimizer: workload.optimizer });
    }
    const { cache, sampleWeights, total } = forecast;
    expect(Math.abs((total - cache - sampleWeights) / peakSince() - 1)).toBeLessThan(0.1);
  });
});
