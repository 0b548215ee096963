import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { nanoConfig, qwen2_5_vl } from './architectures/qwen2_5_vl.ts';
import { squares } from './contract.ts';
import { measuredDevice } from './measured-device.fixture.ts';
import { nanoSize } from './models/model-size.ts';
import { createLocalPolicy, type TrainingOptions } from './open-policy.ts';
import { noiseImage, tinyProcessor } from './tiny-policy.fixture.ts';

const { device, measurePeak } = measuredDevice();
afterAll(() => device.dispose());

const size = { ...nanoSize, layers: 6, visionLayers: 6, hidden: 32, intermediate: 96 };
const config = nanoConfig(300, tinyProcessor.tokens, { ...size, visionHidden: 32 });
const model = qwen2_5_vl.model(config);
const prompt = tinyProcessor.encodePrompt([
  { kind: 'image', image: noiseImage(168, 168, 1) },
  { kind: 'text', text: 'Which digit is hidden? '.repeat(4) },
]);
const rows = Int32Array.from({ length: 8 }, (_, i) => prompt.tokens.length - 9 + i);
const batch = {
  segments: [{ ...prompt, parent: -1 }],
  rows,
  targets: rows.map((row) => prompt.tokens[row + 1] ?? 0),
};

/** The trained weights after a step, the score before it, and the peak of memory in between. */
async function step(options: TrainingOptions) {
  const policy = createLocalPolicy({
    device,
    model,
    processor: tinyProcessor,
    seed: 1,
    ...options,
  });
  const peakSince = measurePeak();
  const { logprobs } = await policy.forwardBackward(batch, squares);
  const peakBytes = peakSince();
  const { gradNorm } = await policy.optimizerStep({ learningRate: 1e-2 });
  const weights: Record<string, string> = {};
  for (const name of policy.trainable) {
    const stored = await policy.parameters[name]?.readStored();
    weights[name] = createHash('sha256')
      .update(stored ?? '')
      .digest('hex');
  }
  policy.dispose();
  return { weights, logprobs, gradNorm, peakBytes };
}

const lora = { rank: 4, alpha: 8, rsLora: false, targets: { language: ['all-linear'] } };

describe.each<[string, TrainingOptions]>([
  ['all weights', {}],
  ['an adapter', { lora }],
])('a policy that trains %s', (_, training) => {
  it('learns the same bits in less memory if it runs blocks again', async () => {
    const kept = await step(training);
    const recomputed = await step({ ...training, recompute: true });
    const { peakBytes, ...learned } = recomputed;
    const { peakBytes: before, ...same } = kept;
    expect(learned).toEqual(same);
    expect(learned.gradNorm).toBeGreaterThan(0);
    expect(peakBytes).toBeLessThan(0.6 * before);
  });
});
