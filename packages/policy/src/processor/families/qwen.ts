/** Qwen2-VL and Qwen2.5-VL. */
import { qwenImageProcessor } from '../image-processor.ts';
import { imageFields } from '../processor-files.ts';
import { QwenProcessor } from '../qwen-processor.ts';
import { qwen2Video, qwenVideoProcessor } from '../videos/qwen-videos.ts';
import { defineFamily } from './family.ts';
import { arithmeticOf } from './image-steps.ts';
import { parseQwenImages, parseQwenVideos } from './qwen-files.ts';
import { qwenOwn } from './qwen-own.ts';
import { plainVideo, qwenVisuals } from './qwen-visuals.ts';

export const qwen = defineFamily({
  name: 'qwen',
  description: 'Qwen2-VL and Qwen2.5-VL.',
  processorClasses: ['Qwen2VLProcessor', 'Qwen2_5_VLProcessor'],
  modelTypes: ['qwen2_vl', 'qwen2_5_vl'],
  own: qwenOwn(qwenImageProcessor, 'Qwen2_5_VLProcessor'),
  open(files, options) {
    const images = parseQwenImages(
      imageFields(files),
      arithmeticOf(files, options.arithmetic, 'pillow'),
    );
    // Without a file of its own, a video is resized as the image processor's file says.
    const videos = parseQwenVideos(files.videos ?? imageFields(files), qwenVideoProcessor);
    const visuals = qwenVisuals(images, {
      prepare: (video) => qwen2Video(video, videos),
      expand: plainVideo,
    });
    return new QwenProcessor(files.tokenizer, images, { ...options, files, visuals });
  },
});
