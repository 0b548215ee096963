/** Copies of the decoder's weights in few bits, which samples are drawn with. */
import {
  allocateQuantized,
  type Parameters,
  parameter,
  type QuantizedWeight,
  quantizedNames,
  requantize,
} from '@saccade/nn';
import type { WeightForm } from '@saccade/ops';
import type { Tensor } from '@saccade/tensor';
import type { LanguageModel } from '../models/language-model.ts';
import { partOf } from '../models/model-parts.ts';

const WEIGHT = '.weight';

/**
 * The form of a weight with K columns. Eight bits have a scale for each output; four a scale for each
 * 128 inputs, or 64 where that does not divide them, as usual for weights of this size.
 */
function formOf(bits: 'int8' | 'int4', K: number): WeightForm {
  if (bits === 'int8') return { bits: 8, group: K };
  return { bits: 4, group: K % 128 === 0 ? 128 : 64 };
}

/**
 * The linear layers of the decoder's blocks. Embedding, LM head and norms stay as they are, as the
 * makers of quantized checkpoints keep them: the head decides between tokens, and is a tenth of what a
 * step reads. The vision tower runs once on an image.
 */
export function quantizedLayers(model: LanguageModel): readonly string[] {
  return model.specs
    .filter(({ name, isLinear, shape }) => {
      return isLinear === true && shape.length === 2 && partOf(name) === 'language';
    })
    .map(({ name }) => name.slice(0, -WEIGHT.length));
}

export class SampleWeights {
  readonly #weights: ReadonlyMap<string, QuantizedWeight>;

  /** Quantizes the weights that `parameters` has. */
  constructor(model: LanguageModel, parameters: Parameters, bits: 'int8' | 'int4') {
    this.#weights = new Map(
      quantizedLayers(model).map((layer) => {
        const weight = parameter(parameters, layer + WEIGHT);
        return [layer, allocateQuantized(weight, formOf(bits, weight.shape[1] ?? 0))];
      }),
    );
    this.refresh(parameters);
  }

  /** What the model's layers find beside their weights, and take in their place. */
  get views(): Parameters {
    const views: Record<string, Tensor> = {};
    for (const [layer, { codes, scales }] of this.#weights) {
      const names = quantizedNames(layer);
      views[names.codes] = codes;
      views[names.scales] = scales;
    }
    return views;
  }

  /** Quantizes the weights as they are now, in queue order. */
  refresh(parameters: Parameters): void {
    for (const [layer, quantized] of this.#weights) {
      requantize(parameter(parameters, layer + WEIGHT), quantized);
    }
  }

  dispose(): void {
    for (const { codes, scales } of this.#weights.values()) {
      codes.dispose();
      scales.dispose();
    }
  }
}
