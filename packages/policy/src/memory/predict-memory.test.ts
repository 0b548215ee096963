import { axpby } from '@saccade/ops';
import { adamw } from '@saccade/optim';
import { adopt, apply, type Tensor } from '@saccade/tensor';
import { afterAll, describe, expect, it } from 'vitest';
import { nanoConfig, qwen2_5_vl } from '../architectures/qwen2_5_vl.ts';
import type { PackedBatch } from '../batch.ts';
import { squares } from '../contract.ts';
import { LocalPolicy } from '../local-policy.ts';
import { Adapter, adaptedLayers } from '../lora/adapter.ts';
import { measuredDevice } from '../measured-device.fixture.ts';
import type { ModelPlan } from '../model-unit.ts';
import { nanoSize } from '../models/model-size.ts';
import type { TrainingOptions } from '../open-policy.ts';
import { noiseImage, tinyProcessor } from '../tiny-policy.fixture.ts';
import { type MemoryWorkload, predictMemory } from './predict-memory.ts';

const { device, measurePeak } = measuredDevice();
afterAll(() => device.dispose());

const size = { ...nanoSize, layers: 3, hidden: 512, heads: 8, kvHeads: 4, intermediate: 1536 };
const model = qwen2_5_vl.model(nanoConfig(300, tinyProcessor.tokens, size));
const image = noiseImage(168, 168, 1);
const workload: MemoryWorkload = {
  optimizer: adamw.create(),
  valueHead: false,
  hasReference: false,
  microBatchTokens: 256,
  contextTokens: 128,
  concurrency: 6,
  images: { image, perContext: 2 },
};
const lora = { rank: 8, alpha: 16, rsLora: false, targets: { language: ['all-linear'] } };
const plan = (training: TrainingOptions = {}): ModelPlan => ({
  model,
  processor: tinyProcessor,
  dtype: 'f32',
  training,
});

/** Weights that were made on the device, so that the process grows by nothing else. */
function zeroWeights(): Record<string, Tensor> {
  return Object.fromEntries(
    model.specs.map(({ name, shape }) => {
      const made = adopt(device, device.alloc('f32', shape));
      apply(axpby, { y: made.reshape([made.size]) }, { b: 0 });
      return [name, made];
    }),
  );
}

/** A policy that samples and learns as the forecast assumes, with all that it allocates. */
async function measure(training: TrainingOptions) {
  const before = device.allocatedBytes();
  const growth = () => device.allocatedBytes() - before;
  const peakSince = measurePeak();
  const layers = training.lora && adaptedLayers(model, training.lora);
  const adapter = layers && Adapter.create(device, layers, 1);
  const parts = { device, model, processor: tinyProcessor, parameters: zeroWeights() };
  const policy = new LocalPolicy({ ...parts, ...training, ...(adapter && { adapter }) });
  const weights = growth();
  const { contextTokens, concurrency } = workload;
  await Promise.all(
    Array.from({ length: concurrency }, (_, i) =>
      policy.sample({
        tokens: new Int32Array(contextTokens - 8).fill(5),
        images: [],
        maxTokens: 8,
        stop: [],
        ignoreEndOfTurn: true,
        temperature: 1,
        seed: [1, i],
        conversation: String(i),
      }),
    ),
  );
  const cache = growth() - weights;
  const batch = learnedBatch();
  await policy.forwardBackward(batch, squares);
  const gradients = growth() - weights - cache;
  await policy.forwardBackward(batch, squares);
  const { optimizer } = workload;
  await policy.optimizerStep({ learningRate: 1e-3, optimizer });
  const moments = growth() - weights - cache;
  await policy.forwardBackward(batch, squares);
  await policy.forwardBackward(batch, squares);
  const total = peakSince();
  policy.dispose();
  expect(device.allocatedBytes()).toBe(before);
  return { weights, cache, gradients, moments, total };
}

/** Two contexts with two images each; all tokens but the first are scored. */
function learnedBatch(): PackedBatch {
  const { contextTokens } = workload;
  const shown = tinyProcessor.encodeContent([
    { kind: 'image', image },
    { kind: 'image', image },
  ]);
  const tokens = new Int32Array(contextTokens).fill(7);
  tokens.set(shown.tokens);
  const segments = [0, 1].map(() => ({ tokens, images: [image, image], parent: -1 }));
  const rows = [0, 1].flatMap((s) =>
    Array.from({ length: contextTokens - 1 }, (_, i) => s * contextTokens + i),
  );
  return { segments, rows: Int32Array.from(rows), targets: new Int32Array(rows.length).fill(9) };
}

const share = (a: number, b: number) => Math.abs(a / b - 1);

describe.each<[string, TrainingOptions]>([
  ['all weights', {}],
  ['all weights, recomputed', { recompute: true }],
  ['an adapter', { lora }],
  [
    'the language model',
    { trainable: model.specs.map(({ name }) => name).filter((name) => name.startsWith('model.')) },
  ],
])('the forecast of a policy that trains %s', (_, training) => {
  it('is what it allocates, within a tenth', async () => {
    const forecast = await predictMemory(plan(training), workload);
    const measured = await measure(training);
    expect(forecast.weights + forecast.adapter).toBe(measured.weights);
    expect(forecast.gradients).toBe(measured.gradients);
    expect(forecast.moments).toBe(measured.moments);
    expect(share(forecast.cache, measured.cache)).toBeLessThan(0.1);
    expect(share(forecast.total, measured.total)).toBeLessThan(0.1);
    const { total, held: _held, ...parts } = forecast;
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(total);
  });
});
