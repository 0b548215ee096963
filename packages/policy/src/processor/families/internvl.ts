/** InternVL 3 and later, as converted for transformers. */
import { writeChatTemplate } from '../chat-template.ts';
import { CheckpointProcessor } from '../checkpoint-processor.ts';
import { type GotOcr2Images, gotOcr2Image } from '../images/got-ocr2-images.ts';
import type { PixelConfig } from '../images/pixel-values.ts';
import type { TileSize } from '../images/tiles.ts';
import type { JsonFields } from '../json-fields.ts';
import { imageFields } from '../processor-files.ts';
import type { Arithmetic } from '../resample/windows.ts';
import { type TileVideos, tileVideo } from '../videos/tile-videos.ts';
import type { Markup, Visuals } from '../visuals.ts';
import { openaiClip } from './channel-defaults.ts';
import { defineFamily, type OwnProcessor } from './family.ts';
import { arithmeticOf, parsePixels } from './image-steps.ts';
import { tileSideOf, visionPatchSize } from './vision-config.ts';

const CONTEXT = '<IMG_CONTEXT>';
const START = '<img>';
const END = '</img>';
const VIDEO = '<video>';

/** Sizes and normalization of images or frames. */
function parseTile(
  fields: JsonFields,
  arithmetic: Arithmetic,
): PixelConfig & { readonly tile: TileSize } {
  const size = fields.object('size');
  const side = (name: string): number => size.count(name, 1, 4096, 384);
  return {
    ...parsePixels(fields, arithmetic, openaiClip, 'bicubic'),
    tile: { width: side('width'), height: side('height') },
  };
}

/** The tokens of tiles, marked as one image. */
function marked(count: number): Markup[] {
  return [START, { token: CONTEXT, count }, END];
}

function expandVideo(frames: number, tokensPerFrame: number): Markup[] {
  return Array.from({ length: frames }, (_, frame) => [
    `${frame === 0 ? '' : '\n'}Frame${frame + 1}: `,
    ...marked(tokensPerFrame),
  ]).flat();
}

function visualsOf(images: GotOcr2Images, videos: TileVideos): Visuals {
  return {
    image: { token: CONTEXT, rendered: CONTEXT, markup: CONTEXT },
    video: { token: CONTEXT, rendered: VIDEO, markup: VIDEO },
    markup: [START, END, '<|im_start|>', '<|im_end|>', '<|endoftext|>'],
    prepareImage: (image) => gotOcr2Image(image, images),
    prepareVideo: (video) => tileVideo(video, videos),
    expand: (image) =>
      image.video === undefined
        ? marked(image.tokenCount)
        : expandVideo(image.grids ?? 1, videos.tokensPerTile),
  };
}

const own: OwnProcessor = {
  special: {
    imageToken: CONTEXT,
    videoToken: CONTEXT,
    visionStartToken: START,
    visionEndToken: END,
  },
  endOfTurn: '<|im_end|>',
  chatTemplate: writeChatTemplate({ image: CONTEXT, video: VIDEO, endOfTurn: '<|im_end|>' }),
  // No token of its own stands for a video: its frames have the placeholders of images.
  controlTokens: () => ['<|endoftext|>', '<|im_start|>', '<|im_end|>', START, END, CONTEXT, VIDEO],
  files({ maxPixels, config }) {
    const side = tileSideOf(config);
    return {
      processor: {
        processor_class: 'InternVLProcessor',
        image_seq_length: config.count('image_seq_length', 1, 65536),
      },
      images: {
        image_processor_type: 'GotOcr2ImageProcessor',
        size: { height: side, width: side },
        crop_to_patches: true,
        min_patches: 1,
        max_patches: Math.max(1, Math.floor(maxPixels / side ** 2)),
      },
    };
  },
};

export const internvl = defineFamily({
  name: 'internvl',
  description: 'InternVL 3 and later, in the checkpoints whose name ends in -hf.',
  processorClasses: ['InternVLProcessor'],
  modelTypes: ['internvl'],
  own,
  open(files, options) {
    const shared = {
      patchSize: visionPatchSize(files.config, 14),
      tokensPerTile: files.processor.count('image_seq_length', 1, 65536, 256),
    };
    const fields = imageFields(files);
    const images: GotOcr2Images = {
      ...parseTile(fields, arithmeticOf(files, options.arithmetic, 'torchvision')),
      ...shared,
      minTiles: fields.count('min_patches', 1, 1024, 1),
      maxTiles: fields.count('max_patches', 1, 1024, 12),
    };
    const videos = { ...parseTile(files.videos ?? fields, 'torchvision'), ...shared };
    return new CheckpointProcessor(files, visualsOf(images, videos), options);
  },
});
