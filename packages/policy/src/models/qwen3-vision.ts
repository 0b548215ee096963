/** The vision of Qwen3-VL, dense and with experts: tower, positions, names and configuration. */
import { ConfigError } from '@saccade/core';
import {
  type DeepstackTowerShape,
  deepstackTower,
  deepstackTowerSpecs,
  mropeTable,
  type RotaryTable,
} from '@saccade/nn';
import {
  expectDivides,
  expectOneOf,
  type Json,
  MOST_LAYERS,
  readCount,
  readFlag,
  readIndices,
  readObject,
  readSections,
} from './config-fields.ts';
import { betweenMarkers, gridCount, gridSpread } from './image-markup.ts';
import type { LanguageModel } from './language-model.ts';
import { expectHeads, type ModelSize, type SpecialTokens } from './model-size.ts';
import { countImages, type ImageMarkup, placeTokens } from './positions.ts';
import { splitQkv } from './stored-names.ts';
import { nanoText, parseText, ropeFields, type TextConfig } from './text-config.ts';
import type { TextShape } from './text-decoder.ts';
import { CHANNELS, visionInput } from './vision-input.ts';
import { formatVisionTokens, parseVisionTokens } from './vision-tokens.ts';

/** The vision tower of a Qwen3-VL model: `vision_config` of `config.json`. */
type Qwen3VisionConfig = Omit<
  DeepstackTowerShape,
  'outputHidden' | 'channels' | 'eps' | 'ropeTheta'
>;

/** The sizes and special tokens of a Qwen3-VL model: `config.json` of Hugging Face. */
export interface Qwen3VLConfig extends TextConfig, SpecialTokens {
  /** Frequency pairs rotated by the temporal, height and width position; the sum is half a head. */
  readonly mropeSection: readonly [number, number, number];
  readonly vision: Qwen3VisionConfig;
}

/** Fields of the decoder that a configuration may leave out, as transformers fills them in. */
const DEFAULTS: Json = { rope_theta: 5e5 };
/** θ of the vision tower's rotary embedding; a constant of the architecture. */
const VISION_ROPE_THETA = 10000;
/** Normalization epsilon of the vision tower; a constant of the architecture. */
const VISION_EPS = 1e-6;

/** A Qwen3-VL of a size of one's own. @throws ConfigError for sizes that do not fit together */
export function nanoQwen3Vl(
  vocabSize: number,
  tokens: SpecialTokens,
  size: ModelSize,
): Qwen3VLConfig {
  expectHeads('visionHeads', { hidden: size.visionHidden, heads: size.visionHeads, multiple: 4 });
  const text = nanoText(vocabSize, size, 'qwen3');
  const headDim = size.hidden / size.heads;
  // As in the published models, 24, 20 and 20 of 64 pairs.
  const spatial = Math.floor((headDim / 2) * (5 / 16));
  return {
    ...text,
    mropeSection: [headDim / 2 - 2 * spatial, spatial, spatial],
    ...tokens,
    vision: {
      depth: size.visionLayers,
      hidden: size.visionHidden,
      heads: size.visionHeads,
      intermediate: size.visionIntermediate,
      patchSize: 16,
      mergeSize: 2,
      temporalPatchSize: 2,
      positions: 16 ** 2,
      // The decoder takes one level a layer.
      deepstackBlocks: Array.from(
        { length: Math.min(size.layers, size.visionLayers - 1) },
        (_, block) => block,
      ),
    },
  };
}

/** @throws ConfigError naming the field that is missing or invalid */
export function parseQwen3Vl(json: Json): Qwen3VLConfig {
  const text: Json = { ...DEFAULTS, ...readObject(json, 'text_config') };
  const vision = readObject(json, 'vision_config');
  const isTied = readFlag(
    json,
    'tie_word_embeddings',
    readFlag(text, 'tie_word_embeddings', false),
  );
  const parsed = parseText(text, 'qwen3', { isTied });
  const { headDim = parsed.hidden / parsed.heads } = parsed;
  expectOneOf(vision, 'hidden_act', ['gelu_pytorch_tanh']);
  const depth = readCount(vision, 'depth', { most: MOST_LAYERS });
  const hidden = readCount(vision, 'hidden_size');
  const heads = readCount(vision, 'num_heads');
  // Its rotary pairs turn by two positions.
  expectDivides('num_heads', heads, hidden, 4);
  const positions = readCount(vision, 'num_position_embeddings');
  expectSquare('num_position_embeddings', positions);
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
      positions,
      deepstackBlocks: readIndices(vision, 'deepstack_visual_indexes', depth),
    },
  };
}

/** @throws ConfigError unless a table of positions is a square */
function expectSquare(key: string, positions: number): void {
  if (Number.isInteger(Math.sqrt(positions))) return;
  throw new ConfigError(key, `${key} must be a square, got ${positions}.`);
}

/** The fields of `config.json` besides the text decoder's. */
export function formatQwen3Vision(config: Qwen3VLConfig, modelType: string): Json {
  const { vision } = config;
  return {
    ...formatVisionTokens(config),
    tie_word_embeddings: config.isTied,
    vision_config: {
      model_type: modelType,
      depth: vision.depth,
      hidden_size: vision.hidden,
      hidden_act: 'gelu_pytorch_tanh',
      num_heads: vision.heads,
      intermediate_size: vision.intermediate,
      out_hidden_size: config.hidden,
      in_channels: CHANNELS,
      patch_size: vision.patchSize,
      spatial_merge_size: vision.mergeSize,
      temporal_patch_size: vision.temporalPatchSize,
      num_position_embeddings: vision.positions,
      deepstack_visual_indexes: vision.deepstackBlocks,
    },
  };
}

/** Rotary angles of positions [3, N]. */
export function qwen3Table(
  { headDim }: TextShape,
  { mropeSection, ropeTheta }: Qwen3VLConfig,
  positions: Int32Array,
): RotaryTable {
  return mropeTable(positions, headDim, mropeSection, ropeTheta, { isInterleaved: true });
}

/**
 * The part of a model that its vision is: features, placeholders and stored names. Every moment of a
 * video stands between markers of its own, after a stamp of its time, so that its position in time
 * is its place in the text.
 */
export function qwen3VisionModel(
  config: Qwen3VLConfig,
): Pick<
  LanguageModel,
  'specs' | 'storedAs' | 'alternatives' | 'place' | 'countImages' | 'encodeImages'
> {
  const { vision } = config;
  const tower: DeepstackTowerShape = {
    ...vision,
    outputHidden: config.hidden,
    channels: CHANNELS,
    eps: VISION_EPS,
    ropeTheta: VISION_ROPE_THETA,
  };
  const patchDim = CHANNELS * vision.temporalPatchSize * vision.patchSize ** 2;
  const markup: ImageMarkup = {
    runs: (image) => new Array(gridCount(image)).fill(image.tokenCount / gridCount(image)),
    ...betweenMarkers(config),
    spread: (image) => gridSpread(image, vision.mergeSize, 0),
  };
  return {
    specs: deepstackTowerSpecs('visual', tower),
    storedAs(parameter) {
      const { name, part } = splitQkv(parameter, /^visual\.blocks\.\d+\.attn\.$/);
      const nested = name.startsWith('visual.')
        ? `model.${name}`
        : name.replace(/^model\./, 'model.language_model.');
      return { name: nested, ...(part && { part }) };
    },
    alternatives: () => [],
    place: (tokens, images, start) => placeTokens(tokens, images, start, markup),
    countImages: (tokens, images) => countImages(tokens, images, markup),
    encodeImages: (device, parameters, images) =>
      deepstackTower(
        parameters,
        'visual',
        tower,
        visionInput(device, parameters, images, patchDim),
      ),
  };
}
