/** A tiny policy for this package's tests. */
import { randomAt } from '@saccade/core';
import { type Device, openDevice, referenceBackend } from '@saccade/ops';
import { nanoConfig, type Qwen2_5_VLConfig, qwen2_5_vl } from './architectures/qwen2_5_vl.ts';
import type { ModelImage } from './batch.ts';
import type { LocalPolicy } from './local-policy.ts';
import type { LanguageModel } from './models/language-model.ts';
import { createLocalPolicy } from './open-policy.ts';
import { patchesOf, qwenImageProcessor } from './processor/image-processor.ts';
import { QwenProcessor } from './processor/qwen-processor.ts';
import { trainTokenizer } from './processor/train-tokenizer.ts';

export const tinyProcessor: QwenProcessor = new QwenProcessor(
  trainTokenizer(['Which digit is hidden? ', '<code>', '<answer>', 'image_clue_0.crop(('], 300),
  { ...qwenImageProcessor, minPixels: 28 * 28 },
);

export const tinyConfig: Qwen2_5_VLConfig = {
  ...nanoConfig(300, tinyProcessor.tokens),
  hidden: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  intermediate: 48,
  mropeSection: [2, 1, 1],
  vision: {
    ...nanoConfig(300, tinyProcessor.tokens).vision,
    depth: 2,
    hidden: 16,
    heads: 2,
    intermediate: 24,
    windowSize: 56,
    fullAttentionBlocks: [1],
  },
};

export const tinyModel: LanguageModel = qwen2_5_vl.model(tinyConfig);

export function referenceDevice(): Device {
  return openDevice(referenceBackend());
}

export function tinyPolicy(device: Device, seed = 1): LocalPolicy {
  return createLocalPolicy({ device, model: tinyModel, processor: tinyProcessor, seed });
}

export function noiseImage(width: number, height: number, seed: number): ModelImage {
  const random = randomAt(seed, 'noise');
  const pixels = Uint8Array.from({ length: width * height * 3 }, () => random.integer(256));
  return patchesOf(pixels, width, height, tinyProcessor.images);
}
