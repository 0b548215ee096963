/** Qwen2.5-VL (arXiv:2502.13923): windowed vision tower, M-RoPE decoder with grouped-query attention. */
import { mropeTable, type VisionTowerShape, visionTower, visionTowerSpecs } from '@saccade/nn';
import { defineArchitecture } from '../models/architecture.ts';
import {
  expectDivides,
  expectOneOf,
  type Json,
  MOST_LAYERS,
  readCount,
  readFlag,
  readIndices,
  readObject,
  readPositive,
  readSections,
} from '../models/config-fields.ts';
import { decoderModel } from '../models/decoder-model.ts';
import { betweenMarkers, gridSpread } from '../models/image-markup.ts';
import type { LanguageModel, StoredTensor } from '../models/language-model.ts';
import { expectHeads, type ModelSize, nanoSize, type SpecialTokens } from '../models/model-size.ts';
import { countImages, type ImageMarkup, placeTokens } from '../models/positions.ts';
import { splitQkv } from '../models/stored-names.ts';
import {
  formatText,
  nanoText,
  parseText,
  ropeFields,
  type TextConfig,
  textShape,
} from '../models/text-config.ts';
import { textSpecs } from '../models/text-decoder.ts';
import { CHANNELS, visionInput } from '../models/vision-input.ts';
import { formatVisionTokens, parseVisionTokens } from '../models/vision-tokens.ts';

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
  /** Temporal positions per second of a clip. */
  readonly tokensPerSecond: number;
}

/** The sizes and special tokens of a Qwen2.5-VL model: `config.json` of Hugging Face. */
export interface Qwen2_5_VLConfig extends TextConfig, SpecialTokens {
  /** Frequency pairs rotated by the temporal, height and width position; the sum is half a head. */
  readonly mropeSection: readonly [number, number, number];
  readonly vision: Qwen2_5_VLVisionConfig;
}

const NAME = 'qwen2_5_vl';
/** Fields of the decoder that a configuration may leave out, as transformers fills them in. */
const DEFAULTS: Json = { rms_norm_eps: 1e-5, rope_theta: 1e6 };
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
  const text = nanoText(vocabSize, size, 'qwen2');
  // The rotary pairs of the vision tower turn by two positions.
  expectHeads('visionHeads', { hidden: size.visionHidden, heads: size.visionHeads, multiple: 4 });
  const pairs = size.hidden / size.heads / 2;
  // As in the published models: a quarter turns by time, the rest by height and width alike.
  const spatial = Math.floor((3 * pairs) / 8);
  return {
    ...text,
    mropeSection: [pairs - 2 * spatial, spatial, spatial],
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
      tokensPerSecond: 2,
    },
  };
}

/** Parses a `config.json`, with the text fields under `text_config` or at the top level. */
function parse(json: Json): Qwen2_5_VLConfig {
  const nested =
    (json.text_config ?? undefined) === undefined ? json : readObject(json, 'text_config');
  // Older configurations have the rotary fields at the top alone.
  const text: Json = { ...DEFAULTS, rope_scaling: json.rope_scaling, ...nested };
  const vision = readObject(json, 'vision_config');
  // Versions differ in which of the two they write; transformers ties where either says so.
  const isTied =
    readFlag(json, 'tie_word_embeddings', false) || readFlag(text, 'tie_word_embeddings', false);
  const parsed = parseText(text, 'qwen2', { isTied });
  const { headDim = parsed.hidden / parsed.heads } = parsed;
  expectOneOf(vision, 'hidden_act', ['silu', 'swish']);
  const depth = readCount(vision, 'depth', { most: MOST_LAYERS });
  const hidden = readCount(vision, 'hidden_size');
  const heads = readCount(vision, 'num_heads');
  // Its rotary pairs turn by two positions.
  expectDivides('num_heads', heads, hidden, 4);
  return {
    ...parsed,
    mropeSection: readSections(ropeFields(text), 'mrope_section', headDim / 2),
    ...parseVisionTokens(json),
    vision: {
      depth,
      hidden,
      heads,
      intermediate: readCount(vision, 'intermediate_size'),
      patchSize: readCount(vision, 'patch_size'),
      mergeSize: readCount(vision, 'spatial_merge_size'),
      temporalPatchSize: readCount(vision, 'temporal_patch_size'),
      windowSize: readCount(vision, 'window_size'),
      fullAttentionBlocks: readIndices(vision, 'fullatt_block_indexes', depth),
      tokensPerSecond: readPositive(vision, 'tokens_per_second', 4),
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
    ...formatVisionTokens(config),
    tie_word_embeddings: config.isTied,
    text_config: {
      model_type: 'qwen2_5_vl_text',
      ...formatText(config, endOfTurn, { mrope_section: config.mropeSection }),
      use_sliding_window: false,
    },
    vision_config: {
      model_type: 'qwen2_5_vl_vision',
      depth: vision.depth,
      hidden_size: vision.hidden,
      hidden_act: 'silu',
      num_heads: vision.heads,
      intermediate_size: vision.intermediate,
      out_hidden_size: config.hidden,
      in_channels: CHANNELS,
      patch_size: vision.patchSize,
      spatial_merge_size: vision.mergeSize,
      temporal_patch_size: vision.temporalPatchSize,
      window_size: vision.windowSize,
      fullatt_block_indexes: vision.fullAttentionBlocks,
      tokens_per_second: vision.tokensPerSecond,
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

/** Checkpoints fuse q, k and v of the vision tower. */
function storedAs(parameter: string): StoredTensor {
  return splitQkv(parameter, /^visual\.blocks\.\d+\.attn\.$/);
}

/** Newer versions of transformers nest both halves under `model.`. */
function alternatives(name: string): readonly string[] {
  if (name.startsWith('visual.')) return [`model.${name}`];
  if (name.startsWith('model.')) return [name.replace('model.', 'model.language_model.')];
  return [];
}

function model(config: Qwen2_5_VLConfig): LanguageModel {
  const { mropeSection, ropeTheta, vision } = config;
  const shape = textShape(config, 'qwen2');
  const tower = towerShape(config);
  const patchDim = CHANNELS * vision.temporalPatchSize * vision.patchSize ** 2;
  const markup: ImageMarkup = {
    runs: ({ tokenCount }) => [tokenCount],
    ...betweenMarkers(config),
    spread: (image) =>
      gridSpread(
        image,
        vision.mergeSize,
        vision.tokensPerSecond * (image.video?.secondsPerGrid ?? 1),
      ),
  };
  return {
    architecture: NAME,
    ...decoderModel({ ...shape, maxPositions: config.maxPositions }, (positions) =>
      mropeTable(positions, shape.headDim, mropeSection, ropeTheta),
    ),
    specs: [...textSpecs(shape), ...visionTowerSpecs('visual', tower)],
    storedAs,
    alternatives,
    place: (tokens, images, start) => placeTokens(tokens, images, start, markup),
    countImages: (tokens, images) => countImages(tokens, images, markup),
    encodeImages: (device, parameters, images) => [
      visionTower(parameters, 'visual', tower, visionInput(device, parameters, images, patchDim)),
    ],
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
