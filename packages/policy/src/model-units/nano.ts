/** A model of about a million parameters with random weights and a tokenizer of its own. */
import { ConfigError } from '@saccade/core';
import { choice, count } from '@saccade/core/settings';
import { z } from 'zod';
import { architectures } from '../architecture-registry.ts';
import { defineModel } from '../model-unit.ts';
import type { Architecture } from '../models/architecture.ts';
import { nanoSize } from '../models/model-size.ts';
import { createLocalPolicy } from '../open-policy.ts';
import type { NanoProcessor, NanoProcessorOptions } from '../processor/nano-processor.ts';
import { trainingFields, trainingOptions } from './training-fields.ts';

const width = (preset: number, about: string) =>
  count({ min: 4, max: 65_536, default: preset, unit: 'numbers', about });
const number = (preset: number, unit: string, about: string) =>
  count({ min: 1, max: 1024, default: preset, unit, about });

/** Names of the architectures that see images; the others have no processor of images. */
const withVision = architectures
  .entries()
  .filter(([, { nanoProcessor }]) => nanoProcessor !== undefined)
  .map(([name]) => name) as [string, ...string[]];

export const nano = defineModel({
  name: 'nano',
  description: 'A model of about a million parameters with random weights, for CPUs.',
  settings: z.strictObject({
    architecture: choice(withVision, {
      default: 'qwen2_5_vl',
      about: 'Its architecture; images are cut as published models of it do, at this size.',
    }),
    vocabulary: count({
      min: 300,
      max: 100_000,
      default: 512,
      unit: 'tokens',
      about: 'Most tokens of its tokenizer; fewer where the corpus offers no more merges.',
    }),
    layers: number(nanoSize.layers, 'layers', 'Layers of the decoder.'),
    hidden: width(nanoSize.hidden, 'Width of the decoder.'),
    heads: number(
      nanoSize.heads,
      'heads',
      'Attention heads of the decoder; they divide its width.',
    ),
    kvHeads: number(nanoSize.kvHeads, 'heads', 'Heads of keys and values; they divide the heads.'),
    intermediate: width(nanoSize.intermediate, 'Width of the decoder’s feed-forward layers.'),
    visionLayers: number(nanoSize.visionLayers, 'layers', 'Layers of the vision tower.'),
    visionHidden: width(nanoSize.visionHidden, 'Width of the vision tower.'),
    visionHeads: number(nanoSize.visionHeads, 'heads', 'Its heads; they divide its width.'),
    visionIntermediate: width(nanoSize.visionIntermediate, 'Width of its feed-forward layers.'),
    contextTokens: count({
      min: 16,
      max: 10_000_000,
      default: nanoSize.contextTokens,
      unit: 'tokens',
      about: 'Longest context; at least rollout.maxContextTokens.',
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
    ...trainingFields,
  }),
  async open(settings, { device, seed, valueHead, corpus }) {
    const { architecture, vocabulary, minPixels, maxPixels, ...size } = settings;
    const unit = architectures.get(architecture);
    const { processor, tokens } = processorOf(unit, { corpus, vocabulary, minPixels, maxPixels });
    const model = unit.model(unit.nano(processor.codec.vocabSize, tokens, size));
    const training = trainingOptions(settings, model);
    return createLocalPolicy({ device, model, processor, seed, valueHead, ...training });
  },
});

function processorOf(unit: Architecture, options: NanoProcessorOptions): NanoProcessor {
  if (unit.nanoProcessor !== undefined) return unit.nanoProcessor(options);
  throw new ConfigError(
    'model.architecture',
    `model.architecture: ${unit.name} reads no images. Use one of ${withVision.join(', ')}.`,
  );
}
