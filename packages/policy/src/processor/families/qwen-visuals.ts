/** Images and videos of Qwen2-VL and its successors in text and pixels. */
import type { ModelImage } from '../../batch.ts';
import { type ImageProcessorConfig, patchesOf } from '../image-processor.ts';
import type { VideoFrames } from '../videos/frames.ts';
import type { Markup, Visuals } from '../visuals.ts';

const VISION_START = '<|vision_start|>';
const VISION_END = '<|vision_end|>';
const IMAGE = '<|image_pad|>';
const VIDEO = '<|video_pad|>';

/** The tokens of a video, between the vision marks that the template writes. */
interface QwenVideoMarkup {
  prepare(video: VideoFrames): ModelImage;
  expand(video: ModelImage): readonly Markup[];
}

/** As many placeholders as features. */
export function plainVideo(video: ModelImage): readonly Markup[] {
  return [{ token: VIDEO, count: video.tokenCount }];
}

/** Each moment with its time, between vision marks of its own. */
export function timedVideo(video: ModelImage, times: readonly number[]): readonly Markup[] {
  const count = video.tokenCount / times.length;
  return times.flatMap((seconds) => [
    `<${withOneDecimal(seconds)} seconds>${VISION_START}`,
    { token: VIDEO, count },
    VISION_END,
  ]);
}

/** Python's `:.1f`: halves go to the even digit, where `toFixed` rounds them up. */
export function withOneDecimal(seconds: number): string {
  const isHalf = Number.isInteger(seconds * 4) && !Number.isInteger(seconds * 2);
  if (!isHalf) return seconds.toFixed(1);
  const tenths = Math.floor(seconds * 10);
  return ((tenths + (tenths % 2)) / 10).toFixed(1);
}

/** The visuals of a family of Qwen. */
export function qwenVisuals(images: ImageProcessorConfig, video: QwenVideoMarkup): Visuals {
  const mark = (token: string) => ({
    token,
    rendered: token,
    markup: `${VISION_START}${token}${VISION_END}`,
  });
  return {
    image: mark(IMAGE),
    video: mark(VIDEO),
    markup: ['<|im_start|>', '<|im_end|>', '<|endoftext|>', VISION_START, VISION_END],
    ...(images.maxSourcePixels !== undefined && { maxSourcePixels: images.maxSourcePixels }),
    prepareImage: ({ pixels, width, height }) => patchesOf(pixels, width, height, images),
    prepareVideo: (frames) => video.prepare(frames),
    expand: (image) =>
      image.video === undefined ? [{ token: IMAGE, count: image.tokenCount }] : video.expand(image),
  };
}
