/** Qwen3-VL (arXiv:2511.21631): DeepStack vision tower, interleaved M-RoPE, normalized q and k. */
import { defineArchitecture } from '../models/architecture.ts';
import { decoderModel } from '../models/decoder-model.ts';
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
import { textSpecs } from '../models/text-decoder.ts';

const NAME = 'qwen3_vl';

/** Qwen3-VL without experts, of any size. */
export const qwen3_vl = defineArchitecture({
  name: NAME,
  description: 'Qwen3-VL: features of several depths, and interleaved M-RoPE.',
  parse: parseQwen3Vl,
  nano: (vocabSize: number, tokens: SpecialTokens, size: ModelSize): Qwen3VLConfig =>
    nanoQwen3Vl(vocabSize, tokens, size),
  model(config) {
    const shape = textShape(config, 'qwen3');
    const vision = qwen3VisionModel(config);
    return {
      architecture: NAME,
      ...decoderModel({ ...shape, maxPositions: config.maxPositions }, (positions) =>
        qwen3Table(shape, config, positions),
      ),
      ...vision,
      specs: [...textSpecs(shape), ...vision.specs],
      configJson: (endOfTurn) => ({
        architectures: ['Qwen3VLForConditionalGeneration'],
        model_type: NAME,
        dtype: 'float32',
        ...formatQwen3Vision(config, 'qwen3_vl_vision'),
        text_config: {
          model_type: 'qwen3_vl_text',
          ...formatText(config, endOfTurn, {
            mrope_section: config.mropeSection,
            mrope_interleaved: true,
          }),
        },
      }),
    };
  },
});
