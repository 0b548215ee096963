/** The configuration of a text decoder: fields of Qwen2, Qwen3 and Llama in `config.json`. */
import { ConfigError } from '@saccade/core';
import {
  type BlockNames,
  decoderNames,
  type RotaryScaling,
  type RotaryTable,
  rotaryTable,
} from '@saccade/nn';
import {
  expectDivides,
  expectOneOf,
  type Json,
  MOST_LAYERS,
  readCount,
  readObject,
  readPositive,
} from './config-fields.ts';
import { expectHeads, type ModelSize } from './model-size.ts';
import type { TextShape } from './text-decoder.ts';

/** Decoders that differ in their blocks alone, by the `model_type` of their configurations. */
export type TextFamily = 'qwen2' | 'qwen3' | 'llama';

/** The sizes of a text decoder. */
export interface TextConfig {
  /** Rows of the token embedding and of the LM head. */
  readonly vocabSize: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Number of decoder layers. */
  readonly layers: number;
  /** Query heads. */
  readonly heads: number;
  /** Key and value heads; divides `heads`. */
  readonly kvHeads: number;
  /** Size of a head. Default: hidden / heads. */
  readonly headDim?: number;
  /** Width of the MLPs. */
  readonly intermediate: number;
  /** Added to the mean square in the RMSNorms. */
  readonly eps: number;
  /** θ of the rotary embedding. */
  readonly ropeTheta: number;
  /** How the rotary embedding is stretched to longer contexts, if it is. */
  readonly ropeScaling?: RotaryScaling;
  /** Whether the LM head is the token embedding. */
  readonly isTied: boolean;
  /** Longest context, tokens. */
  readonly maxPositions: number;
}

const BLOCKS: Readonly<Record<TextFamily, BlockNames>> = {
  qwen2: decoderNames,
  qwen3: {
    ...decoderNames,
    hasQkvBias: false,
    qkNorm: { query: 'self_attn.q_norm', key: 'self_attn.k_norm', of: 'head' },
  },
  llama: { ...decoderNames, hasQkvBias: false },
};

/** Size of Qwen3's heads where a configuration does not say. */
const QWEN3_HEAD = 128;

/** Fields that configurations of older versions of transformers leave out, where they are these. */
const DEFAULTS: Readonly<Record<TextFamily, Json>> = {
  qwen2: {
    vocab_size: 151936,
    hidden_size: 4096,
    intermediate_size: 22016,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    max_position_embeddings: 32768,
  },
  qwen3: {
    vocab_size: 151936,
    hidden_size: 4096,
    intermediate_size: 22016,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    max_position_embeddings: 32768,
  },
  llama: {
    vocab_size: 32000,
    hidden_size: 4096,
    intermediate_size: 11008,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    max_position_embeddings: 2048,
  },
};

/** The decoder of a configuration. */
export function textShape(config: TextConfig, family: TextFamily): TextShape {
  const { headDim = config.hidden / config.heads } = config;
  return { ...config, headDim, block: BLOCKS[family] };
}

/** Rotary angles of one-dimensional positions; positions [3, N], of which the first row counts. */
export function textTable(
  { headDim }: TextShape,
  { ropeTheta, ropeScaling }: TextConfig,
  positions: Int32Array,
): RotaryTable {
  const own = positions.subarray(0, positions.length / 3);
  return rotaryTable(own, headDim, ropeTheta, ropeScaling);
}

/** A decoder of a size of one's own. @throws ConfigError for sizes that do not fit together */
export function nanoText(vocabSize: number, size: ModelSize, family: TextFamily): TextConfig {
  const { hidden, layers, heads, kvHeads, intermediate } = size;
  // Rotary embeddings turn pairs, and M-RoPE divides them among at least two positions.
  expectHeads('heads', { hidden, heads, multiple: 4 });
  expectHeads('kvHeads', { hidden: heads, heads: kvHeads, multiple: 1 });
  return {
    vocabSize,
    hidden,
    layers,
    heads,
    kvHeads,
    ...(family === 'qwen3' && { headDim: hidden / heads }),
    intermediate,
    eps: 1e-6,
    ropeTheta: 10000,
    isTied: true,
    maxPositions: size.contextTokens,
  };
}

/** Reads the fields of a decoder. @throws ConfigError naming the field */
export function parseText(
  text: Json,
  family: TextFamily,
  options: { readonly isTied: boolean },
): TextConfig {
  refuse(text, 'use_sliding_window', 'attends over a sliding window');
  refuse(text, 'attention_bias', 'has biases in all of its attention');
  refuse(text, 'mlp_bias', 'has biases in its MLPs');
  expectOneOf(text, 'hidden_act', ['silu', 'swish']);
  const hidden = readCount(text, 'hidden_size');
  const heads = readCount(text, 'num_attention_heads');
  const kvHeads = readCount(text, 'num_key_value_heads', { fallback: heads });
  expectDivides('num_key_value_heads', kvHeads, heads, 1);
  const rope = ropeFields(text);
  const scaling = parseScaling(rope);
  const fallback = family === 'qwen3' ? QWEN3_HEAD : undefined;
  const isGiven = (text.head_dim ?? fallback) !== undefined;
  const headDim = isGiven ? readCount(text, 'head_dim', { fallback }) : undefined;
  // Rotary embeddings turn pairs.
  if (headDim === undefined) expectDivides('num_attention_heads', heads, hidden, 2);
  else expectDivides('head_dim', 1, headDim, 2);
  return {
    vocabSize: readCount(text, 'vocab_size'),
    hidden,
    layers: readCount(text, 'num_hidden_layers', { most: MOST_LAYERS }),
    heads,
    kvHeads,
    ...(headDim !== undefined && { headDim }),
    intermediate: readCount(text, 'intermediate_size'),
    eps: readPositive(text, 'rms_norm_eps', 1e-6),
    ropeTheta: readPositive(rope, 'rope_theta', readPositive(text, 'rope_theta', 10000)),
    ...(scaling && { ropeScaling: scaling }),
    isTied: options.isTied,
    maxPositions: readCount(text, 'max_position_embeddings'),
  };
}

/**
 * Reads a `text_config`: the family of the decoder, and its fields.
 *
 * @throws ConfigError naming the field
 */
export function parseNestedText(
  json: Json,
  defaultFamily: TextFamily,
  options: { readonly isTied: boolean },
): { readonly family: TextFamily; readonly text: TextConfig } {
  const family = (json.model_type ?? defaultFamily) as TextFamily;
  if (!Object.hasOwn(BLOCKS, family)) {
    throw new ConfigError(
      'text_config.model_type',
      `text_config.model_type must be one of ${Object.keys(BLOCKS).join(', ')}; got ` +
        `${JSON.stringify(family)}.`,
    );
  }
  return { family, text: parseText({ ...DEFAULTS[family], ...json }, family, options) };
}

/** The decoder's fields as transformers reads them. */
export function formatText(config: TextConfig, endOfTurn: number, rope: Json = {}): Json {
  return {
    vocab_size: config.vocabSize,
    hidden_size: config.hidden,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    ...(config.headDim !== undefined && { head_dim: config.headDim }),
    intermediate_size: config.intermediate,
    hidden_act: 'silu',
    rms_norm_eps: config.eps,
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.isTied,
    bos_token_id: null,
    eos_token_id: endOfTurn,
    rope_parameters: {
      ...formatScaling(config.ropeScaling),
      rope_theta: config.ropeTheta,
      ...rope,
    },
  };
}

/** The rotary fields, in the place of newer or older configurations. */
export function ropeFields(text: Json): Json {
  const key =
    (text.rope_parameters ?? undefined) === undefined ? 'rope_scaling' : 'rope_parameters';
  return readObject(text, key);
}

function parseScaling(rope: Json): RotaryScaling | undefined {
  const kind = rope.rope_type ?? rope.type ?? 'default';
  switch (kind) {
    // Dynamic scaling begins where the model's longest context ends; `mrope` only names sections.
    case 'default':
    case 'dynamic':
    case 'mrope':
      return undefined;
    case 'linear':
      return { kind: 'linear', factor: readPositive(rope, 'factor') };
    case 'llama3':
      return {
        kind: 'llama3',
        factor: readPositive(rope, 'factor'),
        low: readPositive(rope, 'low_freq_factor'),
        high: readPositive(rope, 'high_freq_factor'),
        positions: readPositive(rope, 'original_max_position_embeddings'),
      };
    default:
      throw new ConfigError(
        'rope_type',
        `rope_type must be default, dynamic, linear, llama3 or mrope; got ${JSON.stringify(kind)}.`,
      );
  }
}

function formatScaling(scaling: RotaryScaling | undefined): Json {
  if (scaling === undefined) return { rope_type: 'default' };
  const { kind, factor } = scaling;
  if (kind === 'linear') return { rope_type: kind, factor };
  return {
    rope_type: kind,
    factor,
    low_freq_factor: scaling.low,
    high_freq_factor: scaling.high,
    original_max_position_embeddings: scaling.positions,
  };
}

function refuse(text: Json, field: string, what: string): void {
  if (text[field] !== true) return;
  throw new ConfigError(
    field,
    `${field} is true: a model that ${what} is not supported. Use a checkpoint without it.`,
  );
}
