/** Gradients of 16-bit weights through a whole policy, on every instruction set of this machine. */
import { nativeBackend, probeNative } from '@saccade/backend-native';
import { randomAt } from '@saccade/core';
import { openDevice } from '@saccade/ops';
import { describe, expect, it } from 'vitest';
import { nanoConfig, qwen2_5_vl } from './architectures/qwen2_5_vl.ts';
import { createLocalPolicy, type LocalPolicyOptions } from './open-policy.ts';
import { noiseImage, tinyProcessor } from './tiny-policy.fixture.ts';

const native = probeNative();
const sets = native.available ? [...native.instructionSets, ...native.emulated] : [];
const model = qwen2_5_vl.model({ ...nanoConfig(300, tinyProcessor.tokens), layers: 1 });
const lora = { rank: 4, alpha: 8, rsLora: false, targets: { language: ['all-linear'] } };

/** Norm of the gradient of targets after a prompt with an image. */
async function gradNorm(
  isa: (typeof sets)[number],
  count: number,
  training: Pick<LocalPolicyOptions, 'lora'>,
): Promise<number> {
  const device = openDevice(nativeBackend({ threads: 2, isa }));
  const parts = { device, model, processor: tinyProcessor, seed: 1 };
  const policy = createLocalPolicy({ ...parts, dtype: 'bf16', ...training });
  const { tokens, images } = tinyProcessor.encodePrompt([
    { kind: 'text', text: 'Which digit is hidden?' },
    { kind: 'image', image: noiseImage(84, 56, 1) },
  ]);
  const random = randomAt(count, 'targets');
  const targets = Int32Array.from({ length: count }, () => random.integer(300));
  const batch = {
    segments: [
      { tokens, images, parent: -1 },
      { tokens: targets, images: [], parent: 0 },
    ],
    rows: Int32Array.from(targets, (_, i) => tokens.length - 1 + i),
    targets,
  };
  try {
    await policy.forwardBackward(batch, ({ logprobs }) => ({
      loss: 0,
      gradLogprobs: logprobs.map((_, i) => (i % 2 === 0 ? -1 : 0.5)),
    }));
    return (await policy.optimizerStep({ learningRate: 0 })).gradNorm;
  } finally {
    policy.dispose();
    device.dispose();
  }
}

describe.skipIf(sets.length < 2)('the gradient of bf16 weights', () => {
  const [first, ...others] = sets;

  it.each([
    { count: 7, adapts: false },
    { count: 40, adapts: false },
    { count: 33, adapts: true },
  ])('is the same on every instruction set: $count rows, LoRA $adapts', async (one) => {
    const training = one.adapts ? { lora } : {};
    const expected = await gradNorm(first ?? 'generic', one.count, training);
    expect(expected).toBeGreaterThan(0);
    for (const isa of others) {
      const norm = await gradNorm(isa, one.count, training);
      // Sums of bf16 products differ by their order and by what rounds in between: some 0.4 % each.
      expect(Math.abs(norm / expected - 1), `${isa}: ${norm}, ${first}: ${expected}`).toBeLessThan(
        0.03,
      );
    }
  });
});
