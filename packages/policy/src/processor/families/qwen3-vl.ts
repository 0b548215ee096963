/** Qwen3-VL and the models that took over its processor. */
import { imageFields } from '../processor-files.ts';
import { QwenProcessor } from '../qwen-processor.ts';
import {
  gridTimes,
  type QwenVideos,
  qwen3Video,
  qwenVideoProcessor,
} from '../videos/qwen-videos.ts';
import { defineFamily } from './family.ts';
import { arithmeticOf } from './image-steps.ts';
import { parseQwenImages, parseQwenVideos } from './qwen-files.ts';
import { qwenOwn } from './qwen-own.ts';
import { qwenVisuals, timedVideo } from './qwen-visuals.ts';

/** The video processor of Qwen3-VL where its files leave it open. */
const videoDefaults: QwenVideos = {
  ...qwenVideoProcessor,
  patchSize: 16,
  minPixels: 128 * 32 * 32,
  maxPixels: 768 * 32 * 32,
  mean: [0.5, 0.5, 0.5],
  std: [0.5, 0.5, 0.5],
  maxVideoTokens: 768,
};

export const qwen3Vl = defineFamily({
  name: 'qwen3-vl',
  description: 'Qwen3-VL, also with experts, and Qwen3.5.',
  processorClasses: ['Qwen3VLProcessor'],
  modelTypes: ['qwen3_vl', 'qwen3_vl_moe', 'qwen3_5', 'qwen3_5_moe'],
  own: qwenOwn(videoDefaults, 'Qwen3VLProcessor'),
  open(files, options) {
    const arithmetic = arithmeticOf(files, options.arithmetic, 'torchvision');
    const images = parseQwenImages(imageFields(files), arithmetic);
    const videos = parseQwenVideos(files.videos ?? imageFields(files), videoDefaults);
    const visuals = qwenVisuals(images, {
      prepare: (video) => qwen3Video(video, videos),
      expand: (video) =>
        timedVideo(video, gridTimes(video.video?.timestamps ?? [], videos.temporalPatchSize)),
    });
    return new QwenProcessor(files.tokenizer, images, { ...options, files, visuals });
  },
});
