/** Qwen2.5-VL (arXiv:2502.13923): windowed vision tower, M-RoPE decoder with grouped-query attention. */
import { ConfigError } from '@saccade/core';
import { mropeTable, type VisionTowerShape, visionTower, visionTowerSpecs } from '@saccade/nn';
import { defineArchitecture } from '../models/architecture.ts';
import { type Json, readNumber, readNumbers, readObject } from '../models/config-fields.ts';
import type { LanguageModel, StoredTensor } from '../models/language-model.ts';
import { expectHeads, type ModelSize, nanoSize, type SpecialTokens } from '../models/model-size.ts';
import { countImages, placeTokens } from '../models/positions.ts';
import {
  decodeText,
  finalNorm,
  lmHead,
  type TextShape,
  textSpecs,
} from '../models/text-decoder.ts';
import { CHANNELS, visionInput } from '../models/vision-input.ts';

/** The vision tower of a Qwen2.5-VL model: `vision_config` of `config.json`. */
interface Qwen2_5_VLVisionConfig {
  /** Number of transformer blocks. */
  readonly depth: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Attention heads. */
  readonly heads: number;
  /** Width of the MLPs. */
  readonly intermediate: number;
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
  /** Frames per patch. An image is repeated for each. */
  readonly temporalPatchSize: number;
  /** Side of an attention window, pixels. */
  readonly windowSize: number;
  /** Indices of the blocks that attend over the whole image instead of windows. */
  readonly fullAttentionBlocks: readonly number[];
}

/** The sizes and special tokens of a Qwen2.5-VL model: `config.json` of Hugging Face. */
export interface Qwen2_5_VLConfig extends SpecialTokens {
  /** Rows of the token embedding and of the LM head. */
  readonly vocabSize: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Number of decoder layers. */
  readonly layers: number;
  /** Query heads; their size is hidden / heads. */
  readonly heads: number;
  /** Key and value heads; divides `heads`. */
  readonly kvHeads: number;
  /** Width of the MLPs. */
  readonly intermediate: number;
  /** Added to the mean square in the RMSNorms. */
  readonly eps: number;
  /** θ of the rotary embedding. */
  readonly ropeTheta: number;
  /** Frequency pairs rotated by the temporal, height and width position; the sum is half a head. */
  readonly mropeSection: readonly [number, number, number];
  /** Whether the LM head is the token embedding. */
  readonly isTied: boolean;
  /** Longest context, tokens. */
  readonly maxPositions: number;
  readonly vision: Qwen2_5_VLVisionConfig;
}

const NAME = 'qwen2_5_vl';
/** θ of the vision tower's rotary embedding; a constant of the architecture. */
const VISION_ROPE_THETA = 10000;
/** Normalization epsilon of the vision tower; a constant of the architecture. */
const VISION_EPS = 1e-6;

/**
 * A Qwen2.5-VL of a size of one's own.
 *
 * @throws ConfigError for heads that do not divide their hidden size, or leave no rotary pairs
 */
export function nanoConfig(
  vocabSize: number,
  tokens: SpecialTokens,
  size: ModelSize = nanoSize,
): Qwen2_5_VLConfig {
  const { hidden, layers, heads, kvHeads, intermediate } = size;
  // Rotary pairs of text turn by three positions, those of the vision tower by two.
  expectHeads('heads', { hidden, heads, multiple: 4 });
  expectHeads('visionHeads', { hidden: size.visionHidden, heads: size.visionHeads, multiple: 4 });
  expectHeads('kvHeads', { hidden: heads, heads: kvHeads, multiple: 1 });
  const pairs = hidden / heads / 2;
  // As in the published models: a quarter turns by time, the rest by height and width alike.
  const spatial = Math.floor((3 * pairs) / 8);
  return {
    vocabSize,
    hidden,
    layers,
    heads,
    kvHeads,
    intermediate,
    eps: 1e-6,
    ropeTheta: 10000,
    mropeSection: [pairs - 2 * spatial, spatial, spatial],
    isTied: true,
    maxPositions: size.contextTokens,
    ...tokens,
    vision: {
      depth: size.visionLayers,
      hidden: size.visionHidden,
      heads: size.visionHeads,
      intermediate: size.visionIntermediate,
      patchSize: 14,
      mergeSize: 2,
      temporalPatchSize: 2,
      windowSize: 112,
      fullAttentionBlocks: Array.from({ length: size.visionLayers }, (_, block) => block),
    },
  };
}

/** Parses a `config.json`, with the text fields under `text_config` or at the top level. */
function parse(json: Json): Qwen2_5_VLConfig {
  const text = (json.text_config ?? json) as Json;
  const vision = readObject(json.vision_config);
  const rope = readObject(text.rope_parameters ?? text.rope_scaling ?? json.rope_scaling);
  const section = rope.mrope_section as [number, number, number] | undefined;
  if (!Array.isArray(section) || section.length !== 3) {
    throw new ConfigError('mrope_section', 'mrope_section must be three numbers.');
  }
  const heads = readNumber(text, 'num_attention_heads');
  return {
    vocabSize: readNumber(text, 'vocab_size'),
    hidden: readNumber(text, 'hidden_size'),
    layers: readNumber(text, 'num_hidden_layers'),
    heads,
    kvHeads: readNumber(text, 'num_key_value_heads', heads),
    intermediate: readNumber(text, 'intermediate_size'),
    eps: readNumber(text, 'rms_norm_eps', 1e-6),
    ropeTheta: readNumber(rope, 'rope_theta', readNumber(text, 'rope_theta', 1e6)),
    mropeSection: section,
    isTied: (json.tie_word_embeddings ?? text.tie_word_embeddings ?? false) === true,
    maxPositions: readNumber(text, 'max_position_embeddings', 32768),
    imageToken: readNumber(json, 'image_token_id'),
    visionStartToken: readNumber(json, 'vision_start_token_id'),
    visionEndToken: readNumber(json, 'vision_end_token_id'),
    videoToken: readNumber(json, 'video_token_id', -1),
    vision: {
      depth: readNumber(vision, 'depth'),
      hidden: readNumber(vision, 'hidden_size'),
      heads: readNumber(vision, 'num_heads'),
      intermediate: readNumber(vision, 'intermediate_size'),
      patchSize: readNumber(vision, 'patch_size'),
      mergeSize: readNumber(vision, 'spatial_merge_size'),
      temporalPatchSize: readNumber(vision, 'temporal_patch_size'),
      windowSize: readNumber(vision, 'window_size'),
      fullAttentionBlocks: readNumbers(vision, 'fullatt_block_indexes'),
    },
  };
}

/** Formats the `config.json` that transformers reads. */
function format(config: Qwen2_5_VLConfig, endOfTurn: number): Json {
  const { vision } = config;
  return {
    architectures: ['Qwen2_5_VLForConditionalGeneration'],
    model_type: NAME,
    dtype: 'float32',
    image_token_id: config.imageToken,
    video_token_id: config.videoToken,
    vision_start_token_id: config.visionStartToken,
    vision_end_token_id: config.visionEndToken,
    tie_word_embeddings: config.isTied,
    text_config: {
      model_type: 'qwen2_5_vl_text',
      vocab_size: config.vocabSize,
      hidden_size: config.hidden,
      num_hidden_layers: config.layers,
      num_attention_heads: config.heads,
      num_key_value_heads: config.kvHeads,
      intermediate_size: config.intermediate,
      hidden_act: 'silu',
      rms_norm_eps: config.eps,
      max_position_embeddings: config.maxPositions,
      use_sliding_window: false,
      tie_word_embeddings: config.isTied,
      bos_token_id: null,
      eos_token_id: endOfTurn,
      rope_parameters: {
        rope_type: 'default',
        rope_theta: config.ropeTheta,
        mrope_section: config.mropeSection,
      },
    },
    vision_config: {
      model_type: 'qwen2_5_vl_vision',
      depth: vision.depth,
      hidden_size: vision.hidden,
      hidden_act: 'silu',
      num_heads: vision.heads,
      intermediate_size: vision.intermediate,
      out_hidden_size: config.hidden,
      in_channels: 3,
      patch_size: vision.patchSize,
      spatial_merge_size: vision.mergeSize,
      temporal_patch_size: vision.temporalPatchSize,
      window_size: vision.windowSize,
      fullatt_block_indexes: vision.fullAttentionBlocks,
    },
  };
}

function towerShape({ vision, hidden }: Qwen2_5_VLConfig): VisionTowerShape {
  return {
    ...vision,
    outputHidden: hidden,
    channels: CHANNELS,
    eps: VISION_EPS,
    ropeTheta: VISION_ROPE_THETA,
  };
}

const FUSED = 'qkv';
const VISION_QKV = /^(visual\.blocks\.\d+\.attn\.)([qkv])(\.(?:weight|bias))$/;

/** Checkpoints fuse q, k and v of the vision tower. */
function storedAs(parameter: string): StoredTensor {
  const match = VISION_QKV.exec(parameter);
  if (match === null) return { name: parameter };
  const [, block, part = '', suffix] = match;
  return {
    name: `${block}${FUSED}${suffix}`,
    part: { index: FUSED.indexOf(part), of: FUSED.length },
  };
}

/** Newer versions of transformers nest both halves under `model.`. */
function alternatives(name: string): readonly string[] {
  if (name.startsWith('visual.')) return [`model.${name}`];
  if (name.startsWith('model.')) return [name.replace('model.', 'model.language_model.')];
  return [];
}

function model(config: Qwen2_5_VLConfig): LanguageModel {
  const { hidden, heads, mropeSection, ropeTheta, vision } = config;
  const shape: TextShape = { ...config, headDim: hidden / heads };
  const tower = towerShape(config);
  const patchDim = CHANNELS * vision.temporalPatchSize * vision.patchSize ** 2;
  return {
    architecture: NAME,
    vocabSize: config.vocabSize,
    hidden,
    layers: config.layers,
    kvHeads: config.kvHeads,
    headDim: shape.headDim,
    maxPositions: config.maxPositions,
    specs: [...textSpecs(shape), ...visionTowerSpecs('visual', tower)],
    storedAs,
    alternatives,
    place: (tokens, images, start) => placeTokens(tokens, images, start, config, vision.mergeSize),
    countImages: (tokens, images) => countImages(tokens, images, config),
    encodeImages: (device, parameters, images) => [
      visionTower(parameters, 'visual', tower, visionInput(device, images, patchDim)),
    ],
    decode(device, parameters, input, attend) {
      const table = mropeTable(input.positions, shape.headDim, mropeSection, ropeTheta);
      return decodeText(device, parameters, shape, input, table, attend);
    },
    finalNorm: (parameters, x) => finalNorm(parameters, shape, x),
    head: (parameters) => lmHead(parameters, shape),
    configJson: (endOfTurn) => format(config, endOfTurn),
  };
}

/** Qwen2.5-VL, of any size. */
export const qwen2_5_vl = defineArchitecture({
  name: NAME,
  description: 'Qwen2.5-VL: a vision tower with windows, and M-RoPE over time, height and width.',
  parse,
  nano: nanoConfig,
  model,
});
