/** Processors for models of one's own size: a tokenizer trained on a corpus, and small images. */
import type { SpecialTokens } from '../models/model-size.ts';
import { chatTemplate } from './chat-template.ts';
import type { CheckpointProcessor } from './checkpoint-processor.ts';
import { half } from './families/channel-defaults.ts';
import type { ProcessorFamily } from './families/family.ts';
import { internvl } from './families/internvl.ts';
import { formatQwenImages } from './families/qwen-files.ts';
import { qwen3Vl } from './families/qwen3-vl.ts';
import { smolvlmTemplate } from './families/smolvlm.ts';
import { type ImageProcessorConfig, qwenImageProcessor } from './image-processor.ts';
import { type Json, JsonFields } from './json-fields.ts';
import type { ProcessorFiles } from './processor-files.ts';
import { QwenProcessor } from './qwen-processor.ts';
import { trainTokenizer } from './train-tokenizer.ts';

/** What a processor is made of. */
export interface NanoProcessorOptions {
  /** Texts that its tokenizer is trained on. */
  readonly corpus: readonly string[];
  /** Most tokens of its tokenizer, besides the marks of tiles. */
  readonly vocabulary: number;
  /** Bounds of the area of an image, pixels; of an image in tiles only the upper one counts. */
  readonly minPixels: number;
  readonly maxPixels: number;
}

/** A processor, and the tokens that its model must know. */
export interface NanoProcessor {
  readonly processor: CheckpointProcessor;
  readonly tokens: SpecialTokens;
}

/** Sizes of the tiles that a model cuts images into. */
export interface NanoTiles {
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a tile. */
  readonly side: number;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
}

/** The processor of Qwen2.5-VL. */
export function qwenNanoProcessor(options: NanoProcessorOptions): NanoProcessor {
  const { corpus, vocabulary, minPixels, maxPixels } = options;
  const images = { ...qwenImageProcessor, minPixels, maxPixels };
  const processor = new QwenProcessor(trainTokenizer(corpus, vocabulary), images);
  return { processor, tokens: processor.tokens };
}

/** The processor of Qwen3-VL, whose patches are larger, and whose pixels are from −1 to 1. */
export function qwen3NanoProcessor(options: NanoProcessorOptions): NanoProcessor {
  const { corpus, vocabulary, minPixels, maxPixels } = options;
  const images: ImageProcessorConfig = {
    ...qwenImageProcessor,
    ...half,
    patchSize: 16,
    minPixels,
    maxPixels,
  };
  const name = { processor_class: 'Qwen3VLProcessor' };
  const files = filesOf(trainTokenizer(corpus, vocabulary), chatTemplate, {
    images: { ...formatQwenImages(images), ...name },
  });
  return opened(qwen3Vl, files, {
    image: '<|image_pad|>',
    video: '<|video_pad|>',
    start: '<|vision_start|>',
    end: '<|vision_end|>',
  });
}

/** The processor of InternVL. */
export function internvlNanoProcessor(
  options: NanoProcessorOptions,
  tiles: NanoTiles,
): NanoProcessor {
  const tileSide = tiles.side * tiles.patchSize;
  const tokens = ['<img>', '</img>', '<IMG_CONTEXT>'];
  const template = chatTemplate
    .replace('<|vision_start|><|image_pad|><|vision_end|>', '<IMG_CONTEXT>')
    .replace('<|vision_start|><|video_pad|><|vision_end|>', '<video>');
  const files = filesOf(tokenizerWith(tokens, options), template, {
    processor: { processor_class: 'InternVLProcessor', image_seq_length: tokensPerTile(tiles) },
    images: {
      image_processor_type: 'GotOcr2ImageProcessor',
      crop_to_patches: true,
      size: { width: tileSide, height: tileSide },
      min_patches: 1,
      max_patches: Math.max(1, Math.floor(options.maxPixels / tileSide ** 2)),
    },
    config: { vision_config: { patch_size: tiles.patchSize } },
  });
  const image = '<IMG_CONTEXT>';
  return opened(internvl, files, { image, video: image, start: '<img>', end: '</img>' });
}

/** The processor of Idefics3 or SmolVLM. */
export function idefics3NanoProcessor(
  family: ProcessorFamily,
  processorClass: string,
  options: NanoProcessorOptions,
  tiles: NanoTiles,
): NanoProcessor {
  const tileSide = tiles.side * tiles.patchSize;
  const across = Math.max(1, Math.floor(Math.sqrt(options.maxPixels) / tileSide));
  const places = Array.from(
    { length: across ** 2 },
    (_, i) => `<row_${Math.floor(i / across) + 1}_col_${(i % across) + 1}>`,
  );
  const [image, around] = ['<image>', '<fake_token_around_image>'];
  const tokens = [around, image, '<global-img>', '<end_of_utterance>', ...places];
  const files = filesOf(tokenizerWith(tokens, options), smolvlmTemplate, {
    processor: { processor_class: processorClass, image_seq_len: tokensPerTile(tiles) },
    images: {
      image_processor_type: processorClass.replace('Processor', 'ImageProcessor'),
      do_image_splitting: true,
      size: { longest_edge: across * tileSide },
      max_image_size: { longest_edge: tileSide },
    },
    config: { vision_config: { patch_size: tiles.patchSize } },
  });
  return opened(family, files, { image, video: image, start: around, end: around });
}

function tokensPerTile({ side, mergeSize }: NanoTiles): number {
  return (side / mergeSize) ** 2;
}

/** A trained tokenizer with more control tokens after its own. */
function tokenizerWith(
  names: readonly string[],
  { corpus, vocabulary }: NanoProcessorOptions,
): Json {
  const tokenizer = trainTokenizer(corpus, vocabulary);
  const added = tokenizer.added_tokens as readonly object[];
  const { vocab } = tokenizer.model as { readonly vocab: Readonly<Record<string, number>> };
  const first = Math.max(...Object.values(vocab)) + 1;
  const more = names.map((content, i) => ({ ...added[0], id: first + i, content }));
  return { ...tokenizer, added_tokens: [...added, ...more] };
}

/** The files of a processor that was not read from any. */
function filesOf(
  tokenizer: Json,
  template: string,
  parts: { readonly processor?: Json; readonly images: Json; readonly config?: Json },
): ProcessorFiles {
  return {
    tokenizer,
    tokenizerConfig: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      eos_token: '<|im_end|>',
      pad_token: '<|endoftext|>',
    },
    processor: new JsonFields(parts.processor ?? {}, 'processor_config.json'),
    images: new JsonFields(parts.images, 'preprocessor_config.json'),
    chatTemplate: template,
    config: new JsonFields(parts.config ?? {}, 'config.json'),
    layout: 'separate',
  };
}

/** The processor of a family, and the ids of its marks. */
function opened(
  family: ProcessorFamily,
  files: ProcessorFiles,
  names: Readonly<Record<'image' | 'video' | 'start' | 'end', string>>,
): NanoProcessor {
  const processor = family.open(files, {});
  const id = (name: string) => processor.codec.markup(name);
  return {
    processor,
    tokens: {
      imageToken: id(names.image),
      videoToken: id(names.video),
      visionStartToken: id(names.start),
      visionEndToken: id(names.end),
    },
  };
}
