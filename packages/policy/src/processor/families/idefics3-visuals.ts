/** Images of Idefics3 and SmolVLM in text and pixels. */
import type { ModelImage } from '../../batch.ts';
import { writeChatTemplate } from '../chat-template.ts';
import { type Idefics3Images, idefics3Image } from '../images/idefics3-images.ts';
import { isObject } from '../json-fields.ts';
import { imageFields, type ProcessorFiles } from '../processor-files.ts';
import type { Arithmetic } from '../resample/windows.ts';
import type { Markup, Visuals } from '../visuals.ts';
import { half } from './channel-defaults.ts';
import type { OwnImages, OwnProcessor } from './family.ts';
import { parsePixels } from './image-steps.ts';
import { tileSideOf, visionPatchSize } from './vision-config.ts';

const IMAGE = '<image>';
const AROUND = '<fake_token_around_image>';
const OVERVIEW = '<global-img>';
const END_OF_TURN = '<end_of_utterance>';

/** Of the classes `Idefics3ImageProcessor` and `SmolVLMImageProcessor`. */
export const tileDefaults = { longestSide: 4 * 364, tileSide: 364 };

/** @throws DataError naming the field that does not fit */
export function parseIdefics3Images(files: ProcessorFiles, arithmetic: Arithmetic): Idefics3Images {
  const images = imageFields(files);
  const side = (field: string, fallback: number): number =>
    images.object(field).count('longest_edge', 1, 1 << 16, fallback);
  return {
    ...parsePixels(images, arithmetic, half, 'lanczos'),
    patchSize: visionPatchSize(files.config),
    tokensPerTile: files.processor.count('image_seq_len', 1, 65536, 169),
    longestSide: side('size', tileDefaults.longestSide),
    tileSide: side('max_image_size', tileDefaults.tileSide),
    isSplit: images.flag('do_image_splitting', true),
  };
}

/** A whole image, or one frame of a video. */
export function wholeImage(count: number): Markup[] {
  return [`${AROUND}${OVERVIEW}`, { token: IMAGE, count }, AROUND];
}

/** The tiles row by row with their places, then the whole image. */
function expandImage(image: ModelImage, tokensPerTile: number): Markup[] {
  if (image.tiles === undefined) return wholeImage(tokensPerTile);
  const { rows, columns } = image.tiles;
  const row = (r: number): Markup[] => [
    ...Array.from({ length: columns }, (_, c): Markup[] => [
      `${AROUND}<row_${r + 1}_col_${c + 1}>`,
      { token: IMAGE, count: tokensPerTile },
    ]).flat(),
    '\n',
  ];
  const tiles = Array.from({ length: rows }, (_, r) => row(r)).flat();
  return [...tiles, '\n', ...wholeImage(tokensPerTile)];
}

/** The places of tiles that the tokenizer has a token for. */
function tilePlaces(files: ProcessorFiles): string[] {
  const { added_tokens: added } = files.tokenizer;
  const names = (Array.isArray(added) ? added : []).map((token) =>
    isObject(token) ? String(token.content) : '',
  );
  return names.filter((name) => /^<row_\d+_col_\d+>$/.test(name));
}

/** The visuals of a family that has images alone. */
export function idefics3Visuals(files: ProcessorFiles, images: Idefics3Images): Visuals {
  return {
    image: { token: IMAGE, rendered: IMAGE, markup: IMAGE },
    markup: [AROUND, OVERVIEW, END_OF_TURN, '<|im_start|>', ...tilePlaces(files)],
    prepareImage: (image) => idefics3Image(image, images),
    expand: (image) => expandImage(image, images.tokensPerTile),
  };
}

/** Longest side of a square image of the largest area, in whole tiles. */
function longestSideOf({ maxPixels, config }: OwnImages): number {
  const side = tileSideOf(config);
  return Math.max(1, Math.floor(Math.sqrt(maxPixels) / side)) * side;
}

/**
 * How Idefics3 and its successors make a processor for a model that is not published.
 *
 * @param names  classes by which the files name the family
 * @param video  the placeholder of a video, where there are videos
 */
export function idefics3Own(
  names: { readonly processor: string; readonly images: string },
  video?: string,
): OwnProcessor {
  return {
    special: {
      imageToken: IMAGE,
      videoToken: IMAGE,
      visionStartToken: AROUND,
      visionEndToken: AROUND,
    },
    endOfTurn: END_OF_TURN,
    chatTemplate: writeChatTemplate({
      image: IMAGE,
      video: video ?? IMAGE,
      endOfTurn: END_OF_TURN,
    }),
    // Every image is enlarged to the longest side: with more tiles, a look at a detail has them all.
    maxPixels: (config) => tileSideOf(config) ** 2,
    controlTokens(images) {
      const count = longestSideOf(images) / tileSideOf(images.config);
      const sides = Array.from({ length: count }, (_, i) => i + 1);
      const places = sides.flatMap((row) => sides.map((column) => `<row_${row}_col_${column}>`));
      const marks = [AROUND, IMAGE, OVERVIEW, ...places, ...(video === undefined ? [] : [video])];
      return ['<|endoftext|>', '<|im_start|>', END_OF_TURN, ...marks];
    },
    files(images) {
      const { config } = images;
      const side = tileSideOf(config);
      const units = side / visionPatchSize(config) / config.count('scale_factor', 1, 64);
      return {
        processor: { processor_class: names.processor, image_seq_len: units ** 2 },
        images: {
          image_processor_type: names.images,
          size: { longest_edge: longestSideOf(images) },
          max_image_size: { longest_edge: side },
          do_image_splitting: true,
        },
      };
    },
  };
}
