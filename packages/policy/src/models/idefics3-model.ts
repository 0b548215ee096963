/** Idefics3 (arXiv:2408.12637) and SmolVLM (arXiv:2504.05299): SigLIP tiles, a linear connector, Llama. */
import {
  geluFeedForward,
  linearLayer,
  linearSpecs,
  type TileTowerNames,
  type TileTowerShape,
  tileTower,
  tileTowerSpecs,
} from '@saccade/nn';
import { type Architecture, defineArchitecture } from './architecture.ts';
import {
  expectDivides,
  expectOneOf,
  type Json,
  MOST_LAYERS,
  readCount,
  readFlag,
  readObject,
  readPositive,
  readSquare,
  readTileSide,
} from './config-fields.ts';
import { decoderModel } from './decoder-model.ts';
import type { LanguageModel } from './language-model.ts';
import { expectHeads, type ModelSize, type SpecialTokens } from './model-size.ts';
import {
  formatText,
  nanoText,
  parseNestedText,
  type TextConfig,
  type TextFamily,
  textShape,
  textTable,
} from './text-config.ts';
import { textSpecs } from './text-decoder.ts';
import { placeNamedTiles } from './tile-images.ts';
import { CHANNELS, visionInput } from './vision-input.ts';
import { formatVisionTokens } from './vision-tokens.ts';

/** The sizes and special tokens of an Idefics3 model: `config.json` of Hugging Face. */
export interface Idefics3Config extends SpecialTokens {
  readonly family: TextFamily;
  readonly text: TextConfig;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
  readonly vision: Omit<TileTowerShape, 'channels' | 'mergeSize'>;
}

const TOWER: TileTowerNames = {
  patches: 'embeddings.patch_embedding',
  positions: 'embeddings.position_embedding.weight',
  layers: 'encoder.layers',
  block: {
    norm: 'layer',
    attentionNorm: 'layer_norm1',
    query: 'self_attn.q_proj',
    key: 'self_attn.k_proj',
    value: 'self_attn.v_proj',
    output: 'self_attn.out_proj',
    mlpNorm: 'layer_norm2',
    mlp: 'mlp',
    hasQkvBias: true,
    hasOutputBias: true,
    feedForward: geluFeedForward({ layers: ['fc1', 'fc2'], approximate: 'tanh' }),
  },
  finalNorm: 'post_layernorm',
};

function nano(vocabSize: number, tokens: SpecialTokens, size: ModelSize): Idefics3Config {
  expectHeads('visionHeads', { hidden: size.visionHidden, heads: size.visionHeads, multiple: 1 });
  return {
    family: 'llama',
    text: nanoText(vocabSize, size, 'llama'),
    ...tokens,
    mergeSize: 2,
    vision: {
      depth: size.visionLayers,
      hidden: size.visionHidden,
      heads: size.visionHeads,
      intermediate: size.visionIntermediate,
      eps: 1e-6,
      // One tile is all that is seen of an image, so its patches are small.
      patchSize: 7,
      side: 8,
    },
  };
}

/**
 * The marker in configurations that do not name it: tokenizers of the family have
 * `<fake_token_around_image>` and `<image>` one after the other.
 */
function parseTokens(json: Json): SpecialTokens {
  const imageToken = readCount(json, 'image_token_id', { fallback: 128257 });
  return {
    imageToken,
    videoToken: imageToken,
    visionStartToken: readCount(json, 'vision_start_token_id', {
      least: 0,
      fallback: imageToken - 1,
    }),
    visionEndToken: readCount(json, 'vision_end_token_id', { least: 0, fallback: imageToken - 1 }),
  };
}

/** Fields that are missing have the values that transformers gives them. */
function parse(json: Json): Idefics3Config {
  const vision = readObject(json, 'vision_config');
  const nested = readObject(json, 'text_config');
  const isTied = readFlag(json, 'tie_word_embeddings', false);
  const mergeSize = readCount(json, 'scale_factor', { fallback: 2 });
  const patchSize = readSquare(vision, 'patch_size', 32);
  expectOneOf(vision, 'hidden_act', ['gelu_pytorch_tanh']);
  const hidden = readCount(vision, 'hidden_size', { fallback: 1152 });
  const heads = readCount(vision, 'num_attention_heads', { fallback: 16 });
  expectDivides('num_attention_heads', heads, hidden, 1);
  return {
    ...parseNestedText(nested, 'llama', { isTied }),
    ...parseTokens(json),
    mergeSize,
    vision: {
      depth: readCount(vision, 'num_hidden_layers', { most: MOST_LAYERS, fallback: 12 }),
      hidden,
      heads,
      intermediate: readCount(vision, 'intermediate_size', { fallback: 3072 }),
      eps: readPositive(vision, 'layer_norm_eps', 1e-6),
      patchSize,
      side: readTileSide(vision, { patchSize, mergeSize, imageSize: 224 }),
    },
  };
}

/** Formats the `config.json` that transformers reads, with the marker's id besides. */
function format(config: Idefics3Config, endOfTurn: number, name: string, className: string): Json {
  const { family, text, vision } = config;
  return {
    architectures: [className],
    model_type: name,
    dtype: 'float32',
    ...formatVisionTokens(config),
    scale_factor: config.mergeSize,
    pad_token_id: null,
    tie_word_embeddings: text.isTied,
    text_config: { model_type: family, ...formatText(text, endOfTurn) },
    vision_config: {
      model_type: `${name}_vision`,
      num_hidden_layers: vision.depth,
      hidden_size: vision.hidden,
      num_attention_heads: vision.heads,
      intermediate_size: vision.intermediate,
      hidden_act: 'gelu_pytorch_tanh',
      layer_norm_eps: vision.eps,
      image_size: vision.side * vision.patchSize,
      patch_size: vision.patchSize,
      num_channels: CHANNELS,
    },
  };
}

const PROJECTION = 'connector.modality_projection.proj';

/** Checkpoints nest all but the LM head under `model.`, and call the decoder `text_model`. */
function storedAs(parameter: string): string {
  if (parameter.startsWith('lm_head.')) return parameter;
  if (parameter.startsWith('model.')) return parameter.replace('model.', 'model.text_model.');
  return `model.${parameter}`;
}

function model(config: Idefics3Config, name: string, className: string): LanguageModel {
  const { text, family, vision, mergeSize } = config;
  const shape = textShape(text, family);
  const tower: TileTowerShape = { ...vision, channels: CHANNELS, mergeSize };
  return {
    architecture: name,
    ...decoderModel({ ...shape, maxPositions: text.maxPositions }, (positions) =>
      textTable(shape, text, positions),
    ),
    specs: [
      ...textSpecs(shape),
      ...tileTowerSpecs('vision_model', TOWER, tower),
      ...linearSpecs(PROJECTION, text.hidden, mergeSize ** 2 * vision.hidden, false),
    ],
    storedAs: (parameter) => ({ name: storedAs(parameter) }),
    alternatives: () => [],
    ...placeNamedTiles(config),
    encodeImages(device, parameters, images) {
      const input = visionInput(device, parameters, images, CHANNELS * vision.patchSize ** 2);
      const units = tileTower(parameters, 'vision_model', TOWER, tower, input);
      return [linearLayer(parameters, PROJECTION, units, false)];
    },
    configJson: (endOfTurn) => format(config, endOfTurn, name, className),
  };
}

/** Idefics3's architecture under one of its names. */
export function idefics3Architecture<const Name extends string>(unit: {
  readonly name: Name;
  readonly description: string;
  /** The class that transformers reads checkpoints with. */
  readonly className: string;
}): Architecture<Idefics3Config> & { readonly name: Name } {
  const { name, description, className } = unit;
  return defineArchitecture({
    name,
    description,
    parse,
    nano,
    model: (config) => model(config, name, className),
  });
}
