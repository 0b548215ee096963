/** A model of about a million parameters with random weights and a tokenizer of its own. */
import { choice, count, optionalCount, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { architectures } from '../architecture-registry.ts';
import { defineModel, type ModelPlan } from '../model-unit.ts';
import { nanoSize, type SpecialTokens } from '../models/model-size.ts';
import { createLocalPolicy } from '../open-policy.ts';
import { canOpenOwn, openOwnProcessor } from '../processor/open-own.ts';
import { trainingFields, trainingOptions } from './training-fields.ts';

const width = (preset: number, about: string) =>
  count({ min: 4, max: 65_536, default: preset, unit: 'numbers', about });
const number = (preset: number, unit: string, about: string) =>
  count({ min: 1, max: 1024, default: preset, unit, about });

/** A 448-pixel side becomes 112: the overview of a table; a look at 28 pixels stays one token. */
const OVERVIEW_PIXELS = 112 * 112;

/** Those that see images: the tasks of a run have some. */
const withVision = architectures.names.filter(canOpenOwn) as [string, ...string[]];

const fields = z.strictObject({
  architecture: choice(withVision, {
    default: 'qwen2_5_vl',
    about: 'Architecture of the model, by the name that published configurations give it.',
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
  heads: number(nanoSize.heads, 'heads', 'Attention heads of the decoder; they divide its width.'),
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
  maxPixels: optionalCount({
    min: 28 * 28,
    max: 1 << 24,
    unit: 'pixels',
    about:
      'Larger images are shrunk to this area; unset: 12544, or one tile where every image is ' +
      'enlarged to the most tiles there are.',
  }),
  ...trainingFields,
});

export const nano = defineModel({
  name: 'nano',
  description: 'A model of about a million parameters with random weights, for CPUs.',
  settings: fields,
  async plan(settings, { corpus }) {
    return planOf(settings, corpus);
  },
  async open(settings, { device, seed, valueHead, corpus }) {
    const { model, processor, training } = planOf(settings, corpus);
    return createLocalPolicy({ device, model, processor, seed, valueHead, ...training });
  },
});

function planOf(settings: SettingsOf<typeof fields>, corpus: readonly string[]): ModelPlan {
  const { architecture: name, vocabulary, minPixels, maxPixels, ...size } = settings;
  const architecture = architectures.get(name);
  const modelOf = (vocabSize: number, tokens: SpecialTokens) =>
    architecture.model(architecture.nano(vocabSize, tokens, size));
  const { processor, tokens } = openOwnProcessor({
    ...{ architecture: name, corpus, vocabulary, minPixels, maxPixels },
    fallbackPixels: OVERVIEW_PIXELS,
    configJson: (vocabSize, own, endOfTurn) => modelOf(vocabSize, own).configJson(endOfTurn),
  });
  const model = modelOf(processor.codec.vocabSize, tokens);
  return { model, processor, dtype: 'f32', training: trainingOptions(settings, model) };
}
