/** Makes the processor of a model that is not published: a tokenizer of its own, and no files. */
import { UnsupportedError } from '@saccade/core';
import type { SpecialTokens } from '../models/model-size.ts';
import type { CheckpointProcessor } from './checkpoint-processor.ts';
import type { OwnImages } from './families/family.ts';
import { familyOfModel } from './family-registry.ts';
import { type Json, JsonFields } from './json-fields.ts';
import { ownFiles } from './own-files.ts';
import { TextCodec } from './text-codec.ts';
import { trainTokenizer } from './train-tokenizer.ts';

/** What a processor is made of. */
export interface OwnProcessorOptions extends Omit<OwnImages, 'config' | 'maxPixels'> {
  /** Largest area that the model sees of an image, pixels; undefined: what suits the family. */
  readonly maxPixels: number | undefined;
  /** The same for families that any area suits. */
  readonly fallbackPixels: number;
  /** The model's `model_type`. */
  readonly architecture: string;
  /** Texts that the tokenizer is trained on. */
  readonly corpus: readonly string[];
  /** Most tokens of the tokenizer. */
  readonly vocabulary: number;
  /** The model's `config.json` with these ids and as many tokens. */
  configJson(vocabSize: number, tokens: SpecialTokens, endOfTurn: number): Json;
}

/** Whether models of a `model_type` can be made that are not published, with images. */
export function canOpenOwn(architecture: string): boolean {
  return familyOfModel(architecture)?.own !== undefined;
}

/**
 * A processor as the architecture's family makes it, and the ids of its control tokens.
 *
 * @throws UnsupportedError  if the architecture sees no images
 * @throws ConfigError       if the vocabulary has no room for the bytes and the control tokens
 */
export function openOwnProcessor(options: OwnProcessorOptions): {
  readonly processor: CheckpointProcessor;
  readonly tokens: SpecialTokens;
} {
  const { architecture, corpus, vocabulary, minPixels } = options;
  const family = familyOfModel(architecture);
  const own = family?.own;
  if (family === undefined || own === undefined) {
    throw new UnsupportedError(
      `${architecture} has no processor for images of a model that is not published. ` +
        'Choose an architecture with vision.',
    );
  }
  // The vision of a configuration depends on no token.
  const none = { imageToken: 0, videoToken: 0, visionStartToken: 0, visionEndToken: 0 };
  const config = new JsonFields(options.configJson(vocabulary, none, 0), 'config.json');
  const maxPixels = options.maxPixels ?? own.maxPixels?.(config) ?? options.fallbackPixels;
  const images = { minPixels, maxPixels, config };
  const tokenizer = trainTokenizer(corpus, vocabulary, own.controlTokens(images));
  const codec = new TextCodec(tokenizer);
  const { special } = own;
  const tokens: SpecialTokens = {
    imageToken: codec.markup(special.imageToken),
    videoToken: codec.markup(special.videoToken),
    visionStartToken: codec.markup(special.visionStartToken),
    visionEndToken: codec.markup(special.visionEndToken),
  };
  const files = ownFiles({
    ...own.files(images),
    tokenizer,
    endOfTurn: own.endOfTurn,
    chatTemplate: own.chatTemplate,
    config: options.configJson(codec.vocabSize, tokens, codec.markup(own.endOfTurn)),
  });
  return { processor: family.open(files, {}), tokens };
}
