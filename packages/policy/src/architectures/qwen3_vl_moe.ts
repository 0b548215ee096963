/** Qwen3-VL with experts (arXiv:2511.21631): the vision of Qwen3-VL, and a sparse decoder. */
import { type BlockNames, type ExpertShape, expertsFeedForward } from '@saccade/nn';
import { defineArchitecture } from '../models/architecture.ts';
import { type Json, readNumber, readNumbers, readObject } from '../models/config-fields.ts';
import { decoderModel } from '../models/decoder-model.ts';
import type { LanguageModel, Routing, StoredTensor } from '../models/language-model.ts';
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

function nano(vocabSize: number, tokens: SpecialTokens, size: ModelSize): Qwen3VLMoeConfig {
  return {
    ...nanoQwen3Vl(vocabSize, tokens, size),
    // As many weights in use as in the dense model.
    experts: { experts: 8, perToken: 2, intermediate: Math.ceil(size.intermediate / 2) },
    sparseStep: 1,
    denseLayers: [],
  };
}

function parse(json: Json): Qwen3VLMoeConfig {
  const text = readObject(json.text_config);
  return {
    ...parseQwen3Vl(json),
    experts: {
      experts: readNumber(text, 'num_experts', readNumber(text, 'num_local_experts', 60)),
      perToken: readNumber(text, 'num_experts_per_tok', 4),
      intermediate: readNumber(text, 'moe_intermediate_size', 1408),
    },
    sparseStep: readNumber(text, 'decoder_sparse_step', 1),
    denseLayers: readNumbers({ mlp_only_layers: [], ...text }, 'mlp_only_layers'),
  };
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
    },
  };
}

/** The decoder: a dense layer's block, or one whose MLP is experts. */
function sparseShape(config: Qwen3VLMoeConfig): TextShape {
  const { experts, sparseStep, denseLayers } = config;
  const dense = textShape(config, 'qwen3');
  const blockOf = (layer: number, routing: Routing | undefined): BlockNames => {
    const block = dense.blockOf(layer);
    if (denseLayers.includes(layer) || (layer + 1) % sparseStep !== 0) return block;
    return {
      ...block,
      feedForward: expertsFeedForward(experts, {
        given: routing?.given?.(layer),
        chosen: (tensor) => routing?.chosen?.(layer, tensor),
      }),
    };
  };
  return { ...dense, blockOf };
}

/** Checkpoints store the matrices of experts transposed. */
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
  description: 'Qwen3-VL with experts: every token uses a few of many MLPs.',
  parse,
  nano,
  model,
});
