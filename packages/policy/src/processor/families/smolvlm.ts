/** SmolVLM and SmolVLM2. */
import { toCardinal } from 'n2words/en-GB';
import type { ModelImage, VideoTimes } from '../../batch.ts';
import { CheckpointProcessor } from '../checkpoint-processor.ts';
import { imageFields, type ProcessorFiles } from '../processor-files.ts';
import { type TileVideos, tileVideo } from '../videos/tile-videos.ts';
import type { Markup } from '../visuals.ts';
import { half } from './channel-defaults.ts';
import { defineFamily } from './family.ts';
import {
  idefics3Own,
  idefics3Visuals,
  parseIdefics3Images,
  tileDefaults,
  wholeImage,
} from './idefics3-visuals.ts';
import { arithmeticOf, parsePixels } from './image-steps.ts';

const VIDEO = '<video>';

/** What transformers renders conversations with videos with, whatever the checkpoint's template. */
const videoTemplate = [
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}",
  "{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}",
  "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}",
  "{% elif line['type'] == 'image' %}{{ '<image>' }}",
  "{% elif line['type'] == 'video' %}{{ '<video>' }}{% endif %}{% endfor %}",
  '<end_of_utterance>\n{% endfor %}',
  "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
].join('');

/** @throws DataError naming the field that does not fit */
function parseVideos(
  files: ProcessorFiles,
  shared: Pick<TileVideos, 'patchSize' | 'tokensPerTile'>,
): TileVideos {
  const fields = files.videos ?? imageFields(files);
  const sizes = fields.has('size') ? fields : fields.object('video_sampling');
  const size = sizes.object(fields.has('size') ? 'size' : 'video_size');
  const most = 1 << 16;
  const side = fields
    .object('max_image_size')
    .count('longest_edge', 1, most, tileDefaults.tileSide);
  return {
    ...parsePixels(fields, 'torchvision', half, 'lanczos'),
    ...shared,
    longestSide: size.count('longest_edge', 1, most, tileDefaults.longestSide),
    tile: { width: side, height: side },
  };
}

/** The frames with their times, after a sentence on the video. */
function expandVideo(video: ModelImage, times: VideoTimes, tokensPerFrame: number): Markup[] {
  const { timestamps, durationSeconds = timestamps.at(-1) ?? 0 } = times;
  const intro =
    `You are provided the following series of ${toCardinal(video.grids ?? 1)} frames from a ` +
    `${hours(Math.trunc(durationSeconds))} [H:MM:SS] video.\n`;
  const frames = timestamps.flatMap((seconds): Markup[] => {
    const time = `${twoDigits(seconds / 60)}:${twoDigits(seconds % 60)}`;
    return [`\nFrame from ${time}:`, ...wholeImage(tokensPerFrame)];
  });
  return [intro, ...frames, '\n\n'];
}

function twoDigits(value: number): string {
  return String(Math.trunc(value)).padStart(2, '0');
}

/** Python's text of a duration: `0:01:05`, `1 day, 0:00:00`. */
function hours(seconds: number): string {
  const days = Math.floor(seconds / 86400);
  const rest = seconds % 86400;
  const time = `${Math.floor(rest / 3600)}:${twoDigits((rest / 60) % 60)}:${twoDigits(rest % 60)}`;
  return days === 0 ? time : `${days} day${days === 1 ? '' : 's'}, ${time}`;
}

export const smolvlm = defineFamily({
  name: 'smolvlm',
  description: 'SmolVLM and SmolVLM2.',
  processorClasses: ['SmolVLMProcessor'],
  modelTypes: ['smolvlm'],
  own: idefics3Own({ processor: 'SmolVLMProcessor', images: 'SmolVLMImageProcessor' }, VIDEO),
  open(files, options) {
    const arithmetic = arithmeticOf(files, options.arithmetic, 'torchvision');
    const images = parseIdefics3Images(files, arithmetic);
    const videos = parseVideos(files, images);
    const visuals = idefics3Visuals(files, images);
    const withVideos = {
      ...visuals,
      video: { token: visuals.image.token, rendered: VIDEO, markup: VIDEO },
      videoTemplate,
      prepareVideo: (video: Parameters<typeof tileVideo>[0]) => tileVideo(video, videos),
      expand: (image: ModelImage) =>
        image.video === undefined
          ? visuals.expand(image)
          : expandVideo(image, image.video, videos.tokensPerTile),
    };
    return new CheckpointProcessor(files, withVideos, options);
  },
});
