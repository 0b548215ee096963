/** A Qwen2.5-VL of about a million parameters with random weights and a tokenizer of its own. */
import { count } from '@saccade/core/settings';
import { z } from 'zod';
import { createLocalPolicy } from '../local-policy.ts';
import { defineModel } from '../model-unit.ts';
import { nanoConfig } from '../models/config.ts';
import { qwenImageProcessor } from '../processor/image-processor.ts';
import { QwenProcessor } from '../processor/qwen-processor.ts';
import { trainTokenizer } from '../processor/train-tokenizer.ts';

export const nano = defineModel({
  name: 'nano',
  description: 'A Qwen2.5-VL of about a million parameters with random weights, for CPUs.',
  settings: z.strictObject({
    vocabulary: count({
      min: 300,
      max: 100_000,
      default: 512,
      unit: 'tokens',
      about: 'Most tokens of its tokenizer; fewer where the corpus offers no more merges.',
    }),
    minPixels: count({
      min: 28 * 28,
      max: 1 << 24,
      default: 28 * 28,
      unit: 'pixels',
      about: 'Smaller images are enlarged to this area.',
    }),
    // A 448-pixel side becomes 112: the overview of a table; a look at 28 pixels stays one token.
    maxPixels: count({
      min: 28 * 28,
      max: 1 << 24,
      default: 112 * 112,
      unit: 'pixels',
      about: 'Larger images are shrunk to this area.',
    }),
  }),
  async open({ vocabulary, minPixels, maxPixels }, { device, seed, valueHead, corpus }) {
    const processor = new QwenProcessor(trainTokenizer(corpus, vocabulary), {
      ...qwenImageProcessor,
      minPixels,
      maxPixels,
    });
    const config = nanoConfig(processor.codec.vocabSize, processor.tokens);
    return createLocalPolicy({ device, config, processor, seed, valueHead });
  },
});
