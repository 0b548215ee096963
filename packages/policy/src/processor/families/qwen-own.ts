/** How the Qwen families make a processor for a model that is not published. */
import { chatTemplate } from '../chat-template.ts';
import type { ImageProcessorConfig } from '../image-processor.ts';
import { specialTokens } from '../train-tokenizer.ts';
import type { OwnProcessor } from './family.ts';
import { formatQwenImages } from './qwen-files.ts';

/**
 * @param defaults        normalization and temporal patches of the family's images
 * @param processorClass  by which the files name the family
 */
export function qwenOwn(defaults: ImageProcessorConfig, processorClass: string): OwnProcessor {
  return {
    special: {
      imageToken: '<|image_pad|>',
      videoToken: '<|video_pad|>',
      visionStartToken: '<|vision_start|>',
      visionEndToken: '<|vision_end|>',
    },
    endOfTurn: '<|im_end|>',
    chatTemplate,
    controlTokens: () => specialTokens,
    files({ minPixels, maxPixels, config }) {
      const vision = config.object('vision_config');
      const patchSize = vision.count('patch_size', 1, 1024);
      const mergeSize = vision.count('spatial_merge_size', 1, 1024);
      const images = { ...defaults, patchSize, mergeSize, minPixels, maxPixels };
      return { processor: {}, images: formatQwenImages(images, processorClass) };
    },
  };
}
