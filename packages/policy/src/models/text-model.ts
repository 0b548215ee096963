/** Language models without vision: a decoder of a family, and text at consecutive positions. */
import { DataError } from '@saccade/core';
import { type Architecture, defineArchitecture } from './architecture.ts';
import { readFlag } from './config-fields.ts';
import { decoderModel } from './decoder-model.ts';
import type { LanguageModel } from './language-model.ts';
import { placeText } from './positions.ts';
import {
  formatText,
  nanoText,
  parseText,
  type TextConfig,
  type TextFamily,
  textShape,
  textTable,
} from './text-config.ts';
import { textSpecs } from './text-decoder.ts';

/** The architecture of a family of decoders alone. */
export function textArchitecture<const Name extends TextFamily>(unit: {
  readonly name: Name;
  readonly description: string;
  /** The class that transformers reads checkpoints with. */
  readonly className: string;
}): Architecture<TextConfig> & { readonly name: Name } {
  const { name, description, className } = unit;
  return defineArchitecture({
    name,
    description,
    parse: (json) =>
      parseText(json, name, { isTied: readFlag(json, 'tie_word_embeddings', false) }),
    nano: (vocabSize, _tokens, size) => nanoText(vocabSize, size, name),
    model(config): LanguageModel {
      const shape = textShape(config, name);
      return {
        architecture: name,
        ...decoderModel({ ...shape, maxPositions: config.maxPositions }, (positions) =>
          textTable(shape, config, positions),
        ),
        specs: textSpecs(shape),
        storedAs: (parameter) => ({ name: parameter }),
        alternatives: () => [],
        place(tokens, images, start) {
          if (images.length > 0) {
            throw new DataError(`${name} reads no images. Leave them out, or use another model.`);
          }
          return placeText(tokens, start);
        },
        countImages: () => 0,
        configJson: (endOfTurn) => ({
          architectures: [className],
          model_type: name,
          dtype: 'float32',
          ...formatText(config, endOfTurn),
          use_sliding_window: false,
        }),
      };
    },
  });
}
