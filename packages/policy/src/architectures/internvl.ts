/** InternVL 3 (arXiv:2504.10479) as converted for transformers: tiles through a ViT, and an LLM. */
import { ConfigError } from '@saccade/core';
import {
  type BlockNames,
  geluFeedForward,
  layerNormLayer,
  layerNormSpecs,
  linearLayer,
  linearSpecs,
  type TileTowerNames,
  type TileTowerShape,
  tileTower,
  tileTowerSpecs,
} from '@saccade/nn';
import { gelu } from '@saccade/tensor';
import { defineArchitecture } from '../models/architecture.ts';
import {
  expectDivides,
  expectOneOf,
  type Json,
  MOST_LAYERS,
  readCount,
  readFlag,
  readNumber,
  readObject,
  readPositive,
  readSquare,
  readTileSide,
} from '../models/config-fields.ts';
import { decoderModel } from '../models/decoder-model.ts';
import type { LanguageModel } from '../models/language-model.ts';
import { expectHeads, type ModelSize, type SpecialTokens } from '../models/model-size.ts';
import {
  formatText,
  nanoText,
  parseNestedText,
  type TextConfig,
  type TextFamily,
  textShape,
  textTable,
} from '../models/text-config.ts';
import { textSpecs } from '../models/text-decoder.ts';
import { placeMarkedImages } from '../models/tile-images.ts';
import { CHANNELS, visionInput } from '../models/vision-input.ts';
import { formatVisionTokens } from '../models/vision-tokens.ts';

/** The vision tower of an InternVL model: `vision_config` of `config.json`. */
interface InternVLVisionConfig extends Omit<TileTowerShape, 'channels' | 'mergeSize'> {
  /** Root-mean-square or layer normalization. */
  readonly norm: BlockNames['norm'];
  /** Whether q, k and v have a bias. */
  readonly hasQkvBias: boolean;
  /** Whether q and k are normalized, over all heads. */
  readonly hasQkNorm: boolean;
  /** Start of LayerScale's factors. */
  readonly scaleStart: number;
}

/** The sizes and special tokens of an InternVL model: `config.json` of Hugging Face. */
interface InternVLConfig extends SpecialTokens {
  readonly family: TextFamily;
  readonly text: TextConfig;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
  readonly vision: InternVLVisionConfig;
}

const NAME = 'internvl';
/** Normalization epsilon of the projector, torch's own. */
const PROJECTOR_EPS = 1e-5;

function nano(vocabSize: number, tokens: SpecialTokens, size: ModelSize): InternVLConfig {
  expectHeads('visionHeads', { hidden: size.visionHidden, heads: size.visionHeads, multiple: 1 });
  return {
    family: 'qwen2',
    text: nanoText(vocabSize, size, 'qwen2'),
    ...tokens,
    mergeSize: 2,
    vision: {
      depth: size.visionLayers,
      hidden: size.visionHidden,
      heads: size.visionHeads,
      intermediate: size.visionIntermediate,
      eps: 1e-6,
      patchSize: 14,
      side: 4,
      norm: 'layer',
      hasQkvBias: true,
      hasQkNorm: false,
      scaleStart: 0.1,
    },
  };
}

/**
 * Markers in configurations that do not name them: tokenizers of the family have `<img>`, `</img>` and
 * `<IMG_CONTEXT>` one after another.
 */
function parseTokens(json: Json): SpecialTokens {
  const imageToken = readCount(json, 'image_token_id', { least: 2 });
  return {
    imageToken,
    videoToken: imageToken,
    visionStartToken: readCount(json, 'vision_start_token_id', {
      least: 0,
      fallback: imageToken - 2,
    }),
    visionEndToken: readCount(json, 'vision_end_token_id', { least: 0, fallback: imageToken - 1 }),
  };
}

function parse(json: Json): InternVLConfig {
  const vision = readObject(json, 'vision_config');
  const nested = readObject(json, 'text_config');
  const isTied = readFlag(
    json,
    'tie_word_embeddings',
    readFlag(nested, 'tie_word_embeddings', true),
  );
  expectValue(json, 'vision_feature_layer', -1);
  expectValue(json, 'vision_feature_select_strategy', 'default');
  expectValue(vision, 'use_absolute_position_embeddings', true);
  expectValue(vision, 'use_mean_pooling', true);
  const patchSize = readSquare(vision, 'patch_size', 14);
  expectOneOf(vision, 'hidden_act', ['gelu']);
  expectOneOf(vision, 'norm_type', ['layer_norm', 'rms_norm']);
  const hidden = readCount(vision, 'hidden_size', { fallback: 1024 });
  const heads = readCount(vision, 'num_attention_heads', { fallback: 16 });
  expectDivides('num_attention_heads', heads, hidden, 1);
  const shrink = readPositive(json, 'downsample_ratio', 0.5);
  if (shrink > 1) expectValue(json, 'downsample_ratio', 0.5);
  const mergeSize = Math.round(1 / shrink);
  return {
    ...parseNestedText(nested, 'qwen2', { isTied }),
    ...parseTokens(json),
    mergeSize,
    vision: {
      depth: readCount(vision, 'num_hidden_layers', { most: MOST_LAYERS, fallback: 24 }),
      hidden,
      heads,
      intermediate: readCount(vision, 'intermediate_size', { fallback: 4096 }),
      eps: readPositive(vision, 'layer_norm_eps', 1e-6),
      patchSize,
      side: readTileSide(vision, { patchSize, mergeSize, imageSize: 448 }),
      norm: vision.norm_type === 'rms_norm' ? 'rms' : 'layer',
      hasQkvBias: readFlag(vision, 'attention_bias', false),
      hasQkNorm: readFlag(vision, 'use_qk_norm', false),
      scaleStart: readNumber(vision, 'layer_scale_init_value', 0.1),
    },
  };
}

/** @throws ConfigError if a field has another value than the one that is supported */
function expectValue(source: Json, field: string, value: unknown): void {
  const got = source[field] ?? value;
  if (got === value) return;
  throw new ConfigError(
    field,
    `${field} must be ${JSON.stringify(value)}, got ${JSON.stringify(got)}. ` +
      'Use an InternVL 3 checkpoint.',
  );
}

/** Formats the `config.json` that transformers reads, with the markers' ids besides. */
function format(config: InternVLConfig, endOfTurn: number): Json {
  const { family, text, vision, mergeSize } = config;
  const tileSide = vision.side * vision.patchSize;
  return {
    architectures: ['InternVLForConditionalGeneration'],
    model_type: NAME,
    dtype: 'float32',
    ...formatVisionTokens(config),
    image_seq_length: (vision.side / mergeSize) ** 2,
    downsample_ratio: 1 / mergeSize,
    projector_hidden_act: 'gelu',
    vision_feature_layer: -1,
    vision_feature_select_strategy: 'default',
    tie_word_embeddings: text.isTied,
    text_config: { model_type: family, ...formatText(text, endOfTurn) },
    vision_config: {
      model_type: 'internvl_vision',
      num_hidden_layers: vision.depth,
      hidden_size: vision.hidden,
      num_attention_heads: vision.heads,
      intermediate_size: vision.intermediate,
      attention_bias: vision.hasQkvBias,
      use_qk_norm: vision.hasQkNorm,
      hidden_act: 'gelu',
      norm_type: vision.norm === 'rms' ? 'rms_norm' : 'layer_norm',
      layer_norm_eps: vision.eps,
      image_size: [tileSide, tileSide],
      patch_size: [vision.patchSize, vision.patchSize],
      num_channels: CHANNELS,
      use_mask_token: false,
      use_absolute_position_embeddings: true,
      layer_scale_init_value: vision.scaleStart,
      use_mean_pooling: true,
    },
  };
}

function towerNames(vision: InternVLVisionConfig): TileTowerNames {
  return {
    patches: 'embeddings.patch_embeddings.projection',
    positions: 'embeddings.position_embeddings',
    classToken: 'embeddings.cls_token',
    layers: 'encoder.layer',
    block: {
      norm: vision.norm,
      attentionNorm: 'layernorm_before',
      query: 'attention.q_proj',
      key: 'attention.k_proj',
      value: 'attention.v_proj',
      output: 'attention.projection_layer',
      mlpNorm: 'layernorm_after',
      mlp: 'mlp',
      ...(vision.hasQkNorm && {
        qkNorm: { query: 'attention.q_norm', key: 'attention.k_norm', of: 'all' },
      }),
      scales: { attention: 'lambda_1', mlp: 'lambda_2', start: vision.scaleStart },
      hasQkvBias: vision.hasQkvBias,
      hasOutputBias: true,
      feedForward: geluFeedForward({ layers: ['fc1', 'fc2'], approximate: 'none' }),
    },
  };
}

/** Names of checkpoints of the hub; transformers nests all of it under `model.` in memory. */
function storedAs(parameter: string): string {
  if (parameter.startsWith('model.') || parameter.startsWith('lm_head.')) {
    return `language_model.${parameter}`;
  }
  return parameter;
}

function alternatives(name: string): readonly string[] {
  if (name === 'language_model.lm_head.weight') return ['lm_head.weight'];
  const decoder = /^language_model\.model\./;
  if (!decoder.test(name)) return [`model.${name}`];
  return ['language_model.', 'model.language_model.'].map((prefix) =>
    name.replace(decoder, prefix),
  );
}

function model(config: InternVLConfig): LanguageModel {
  const { text, family, vision, mergeSize } = config;
  const shape = textShape(text, family);
  const names = towerNames(vision);
  const tower: TileTowerShape = { ...vision, channels: CHANNELS, mergeSize };
  const merged = mergeSize ** 2 * vision.hidden;
  const projector = 'multi_modal_projector';
  return {
    architecture: NAME,
    ...decoderModel({ ...shape, maxPositions: text.maxPositions }, (positions) =>
      textTable(shape, text, positions),
    ),
    specs: [
      ...textSpecs(shape),
      ...tileTowerSpecs('vision_tower', names, tower),
      ...layerNormSpecs(`${projector}.layer_norm`, merged),
      ...linearSpecs(`${projector}.linear_1`, text.hidden, merged, true),
      ...linearSpecs(`${projector}.linear_2`, text.hidden, text.hidden, true),
    ],
    storedAs: (parameter) => ({ name: storedAs(parameter) }),
    alternatives,
    ...placeMarkedImages(config),
    encodeImages(device, parameters, images) {
      const input = visionInput(device, parameters, images, CHANNELS * vision.patchSize ** 2);
      const units = tileTower(parameters, 'vision_tower', names, tower, input);
      const normed = layerNormLayer(parameters, `${projector}.layer_norm`, units, PROJECTOR_EPS);
      const inner = gelu(linearLayer(parameters, `${projector}.linear_1`, normed, true));
      return [linearLayer(parameters, `${projector}.linear_2`, inner, true)];
    },
    configJson: (endOfTurn) => format(config, endOfTurn),
  };
}

/** InternVL 3, of any size. */
export const internvl = defineArchitecture({
  name: NAME,
  description:
    'InternVL 3 in checkpoints whose name ends in -hf: tiles, and an LLM in one dimension.',
  parse,
  nano,
  model,
});
