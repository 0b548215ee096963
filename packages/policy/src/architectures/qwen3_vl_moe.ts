/** Qwen3-VL with experts (arXiv:2511.21631): the vision of Qwen3-VL, and a sparse decoder. */
import { ConfigError } from '@saccade/core';
import { type ExpertShape, expertsFeedForward } from '@saccade/nn';
import { defineArchitecture } from '../models/architecture.ts';
import {
  expectDivides,
  type Json,
  MOST_LAYERS,
  readCount,
  readIndices,
  readObject,
} from '../models/config-fields.ts';
import { decoderModel } from '../models/decoder-model.ts';
import type { LanguageModel, StoredTensor } from '../models/language-model.ts';
import type { ModelSize, SpecialTokens } from '../models/model-size.ts';
import {
  formatQwen3Vision,
  nanoQwen3Vl,
  parseQwen3Vl,
  type Qwen3VLConfig,
  qwen3Table,
  qwen3VisionModel,
} from '../models/qwen3-vision.ts';
import { formatText, textShape } from '../models/text-config.ts';
import { type TextShape, textSpecs } from '../models/text-decoder.ts';

/** The sizes of a Qwen3-VL model with experts: `config.json` of Hugging Face. */
interface Qwen3VLMoeConfig extends Qwen3VLConfig {
  readonly experts: ExpertShape;
  /** Every so many layers have experts, the first of them at this place. */
  readonly sparseStep: number;
  /** Indices of layers without experts besides. */
  readonly denseLayers: readonly number[];
}

const NAME = 'qwen3_vl_moe';

/** Fields of the decoder that a configuration may leave out, as transformers fills them in. */
const DEFAULTS: Json = {
  num_experts: 60,
  num_experts_per_tok: 4,
  moe_intermediate_size: 1408,
  decoder_sparse_step: 1,
};

function nano(vocabSize: number, tokens: SpecialTokens, size: ModelSize): Qwen3VLMoeConfig {
  return {
    ...nanoQwen3Vl(vocabSize, tokens, size),
    // A token uses as many weights as in the dense model.
    experts: { experts: 8, perToken: 2, intermediate: Math.ceil(size.intermediate / 2) },
    sparseStep: 1,
    denseLayers: [],
  };
}

function parse(json: Json): Qwen3VLMoeConfig {
  const given = readObject(json, 'text_config');
  const text: Json = { ...DEFAULTS, ...given };
  // transformers calls the number by both names.
  const named =
    (given.num_local_experts ?? undefined) === undefined ? 'num_experts' : 'num_local_experts';
  const experts = readCount(text, named, { least: 0 });
  const perToken = readCount(text, 'num_experts_per_tok');
  if (experts > 0 && perToken > experts) {
    throw new ConfigError(
      'num_experts_per_tok',
      `num_experts_per_tok must be at most ${named}, ${experts}; got ${perToken}.`,
    );
  }
  // Unlike the dense model, it derives the size of a head where it is not given.
  const headDim = text.head_dim ?? headSize(text);
  const dense = parseQwen3Vl({ ...json, text_config: { ...given, head_dim: headDim } });
  const denseLayers = { mlp_only_layers: text.mlp_only_layers ?? [] };
  return {
    ...dense,
    experts: { experts, perToken, intermediate: readCount(text, 'moe_intermediate_size') },
    sparseStep: readCount(text, 'decoder_sparse_step'),
    denseLayers: readIndices(denseLayers, 'mlp_only_layers', MOST_LAYERS),
  };
}

function headSize(text: Json): number {
  const heads = readCount(text, 'num_attention_heads');
  const hidden = readCount(text, 'hidden_size');
  expectDivides('num_attention_heads', heads, hidden, 2);
  return hidden / heads;
}

function format(config: Qwen3VLMoeConfig, endOfTurn: number): Json {
  return {
    architectures: ['Qwen3VLMoeForConditionalGeneration'],
    model_type: NAME,
    dtype: 'float32',
    ...formatQwen3Vision(config, 'qwen3_vl_moe_vision'),
    text_config: {
      model_type: 'qwen3_vl_moe_text',
      ...formatText(config, endOfTurn, {
        mrope_section: config.mropeSection,
        mrope_interleaved: true,
      }),
      num_experts: config.experts.experts,
      num_experts_per_tok: config.experts.perToken,
      moe_intermediate_size: config.experts.intermediate,
      decoder_sparse_step: config.sparseStep,
      mlp_only_layers: config.denseLayers,
      norm_topk_prob: true,
    },
  };
}

/** The decoder: blocks of dense layers, and those whose feed-forward layers are experts. */
function sparseShape(config: Qwen3VLMoeConfig): TextShape {
  const { experts, sparseStep, denseLayers } = config;
  const shape = textShape(config, 'qwen3');
  const sparse = { ...shape.block, feedForward: expertsFeedForward(experts) };
  const hasExperts = (layer: number) =>
    experts.experts > 0 && (layer + 1) % sparseStep === 0 && !denseLayers.includes(layer);
  return { ...shape, blockOf: (layer) => (hasExperts(layer) ? sparse : shape.block) };
}

/** Published checkpoints have the matrices of experts transposed; transformers 5 saves them as they are. */
function storedAs(stored: StoredTensor): StoredTensor {
  return /\.experts\.(gate_up|down)_proj$/.test(stored.name)
    ? { ...stored, isTransposed: true }
    : stored;
}

function model(config: Qwen3VLMoeConfig): LanguageModel {
  const shape = sparseShape(config);
  const vision = qwen3VisionModel(config);
  return {
    architecture: NAME,
    ...decoderModel({ ...shape, maxPositions: config.maxPositions }, (positions) =>
      qwen3Table(shape, config, positions),
    ),
    ...vision,
    specs: [...textSpecs(shape), ...vision.specs],
    storedAs: (parameter) => storedAs(vision.storedAs(parameter)),
    configJson: (endOfTurn) => format(config, endOfTurn),
  };
}

/** Qwen3-VL with experts, of any size. */
export const qwen3_vl_moe = defineArchitecture({
  name: NAME,
  description: 'Qwen3-VL with experts: every token uses a few of many feed-forward layers.',
  parse,
  nano,
  model,
});
