/** The Qwen2.5-VL configuration, read from and written to Hugging Face's `config.json`. */
import { ConfigError } from '@saccade/core';

/** The vision tower of a Qwen2.5-VL model: `vision_config` of `config.json`. */
export interface VisionConfig {
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
export interface ModelConfig {
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
  /** Ids of the markup tokens around and in place of images and videos. */
  readonly imageToken: number;
  readonly visionStartToken: number;
  readonly visionEndToken: number;
  readonly videoToken: number;
  readonly vision: VisionConfig;
}

/** θ of the vision tower's rotary embedding; a constant of the architecture. */
export const VISION_ROPE_THETA = 10000;
/** Normalization epsilon of the vision tower; a constant of the architecture. */
export const VISION_EPS = 1e-6;

/** The choices for a model of custom size. */
export interface ModelSize {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly intermediate: number;
  readonly visionLayers: number;
  readonly visionHidden: number;
  readonly visionHeads: number;
  readonly visionIntermediate: number;
  /** Longest context, tokens. */
  readonly contextTokens: number;
}

/** A size with about 1.5M parameters, small enough to train on two CPU cores. */
export const nanoSize: ModelSize = {
  layers: 4,
  hidden: 128,
  heads: 4,
  kvHeads: 2,
  intermediate: 384,
  visionLayers: 3,
  visionHidden: 96,
  visionHeads: 4,
  visionIntermediate: 256,
  contextTokens: 4096,
};

/**
 * A Qwen2.5-VL of a size of one's own.
 *
 * @throws ConfigError for heads that do not divide their hidden size, or leave no rotary pairs
 */
export function nanoConfig(
  vocabSize: number,
  tokens: SpecialTokens,
  size: ModelSize = nanoSize,
): ModelConfig {
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

/** @throws ConfigError unless the heads divide the width into parts of a multiple */
function expectHeads(
  field: string,
  { hidden, heads, multiple }: { hidden: number; heads: number; multiple: number },
): void {
  const width = hidden / heads;
  if (Number.isInteger(width) && width % multiple === 0) return;
  throw new ConfigError(
    `model.${field}`,
    `model.${field}: expected a number that divides ${hidden} into parts of a multiple of ` +
      `${multiple}, got ${heads}. Change it, or what it divides.`,
  );
}

/** Ids of the markup tokens around and in place of images and videos. */
export type SpecialTokens = Pick<
  ModelConfig,
  'imageToken' | 'visionStartToken' | 'visionEndToken' | 'videoToken'
>;

type Json = Record<string, unknown>;

/**
 * Parses a `config.json`, with the text fields under `text_config` or at the top level.
 *
 * @throws ConfigError naming the field that is missing or invalid
 */
export function parseConfig(json: Json): ModelConfig {
  if (json.model_type !== 'qwen2_5_vl') {
    throw new ConfigError(
      'model_type',
      `model_type must be "qwen2_5_vl", got ${JSON.stringify(json.model_type)}. Use a Qwen2.5-VL checkpoint.`,
    );
  }
  const text = (json.text_config ?? json) as Json;
  const vision = (json.vision_config ?? {}) as Json;
  const rope = (text.rope_parameters ?? text.rope_scaling ?? json.rope_scaling ?? {}) as Json;
  const integer = (source: Json, key: string, fallback?: number): number => {
    const value = source[key] ?? fallback;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new ConfigError(key, `${key} must be a number, got ${JSON.stringify(value)}.`);
    }
    return value;
  };
  const section = rope.mrope_section as [number, number, number] | undefined;
  if (!Array.isArray(section) || section.length !== 3) {
    throw new ConfigError('mrope_section', 'mrope_section must be three numbers.');
  }
  const heads = integer(text, 'num_attention_heads');
  return {
    vocabSize: integer(text, 'vocab_size'),
    hidden: integer(text, 'hidden_size'),
    layers: integer(text, 'num_hidden_layers'),
    heads,
    kvHeads: integer(text, 'num_key_value_heads', heads),
    intermediate: integer(text, 'intermediate_size'),
    eps: integer(text, 'rms_norm_eps', 1e-6),
    ropeTheta: integer(rope, 'rope_theta', integer(text, 'rope_theta', 1e6)),
    mropeSection: section,
    isTied: (json.tie_word_embeddings ?? text.tie_word_embeddings ?? false) === true,
    maxPositions: integer(text, 'max_position_embeddings', 32768),
    imageToken: integer(json, 'image_token_id'),
    visionStartToken: integer(json, 'vision_start_token_id'),
    visionEndToken: integer(json, 'vision_end_token_id'),
    videoToken: integer(json, 'video_token_id', -1),
    vision: {
      depth: integer(vision, 'depth'),
      hidden: integer(vision, 'hidden_size'),
      heads: integer(vision, 'num_heads'),
      intermediate: integer(vision, 'intermediate_size'),
      patchSize: integer(vision, 'patch_size'),
      mergeSize: integer(vision, 'spatial_merge_size'),
      temporalPatchSize: integer(vision, 'temporal_patch_size'),
      windowSize: integer(vision, 'window_size'),
      fullAttentionBlocks: vision.fullatt_block_indexes as number[],
    },
  };
}

/** Formats the `config.json` that transformers reads. */
export function formatConfig(config: ModelConfig, endOfTurn: number): Json {
  const { vision } = config;
  return {
    architectures: ['Qwen2_5_VLForConditionalGeneration'],
    model_type: 'qwen2_5_vl',
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
