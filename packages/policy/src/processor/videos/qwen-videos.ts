/** Videos of Qwen: several frames make one patch, and all frames get one size. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../../batch.ts';
import type { DecodedImage } from '../decode-image.ts';
import { type ImageProcessorConfig, qwenImageProcessor, smartResize } from '../image-processor.ts';
import { patchLength, writePatches } from '../images/patches.ts';
import { DEFAULT_RESAMPLING, pixelValues } from '../images/pixel-values.ts';
import type { TileSize } from '../images/tiles.ts';
import { resize } from '../resample/resize.ts';
import { roundHalfEven } from '../round-half-even.ts';
import { checkFrames, frameRate, timesOf, type VideoFrames } from './frames.ts';

/** How videos are resized: `video_preprocessor_config.json`. */
export interface QwenVideos extends ImageProcessorConfig {
  /**
   * Whether a frame gets at most its share of a budget, as in qwen-vl-utils. Off, as in
   * transformers up to 5.21: each frame may have `maxPixels` (Qwen2.5), or all together (Qwen3).
   */
  readonly capsFrames: boolean;
  /** The budget: tokens of all frames (Qwen2.5), or of one frame (Qwen3). */
  readonly maxVideoTokens: number;
}

/** The video processor of Qwen2.5-VL where its files leave it open. */
export const qwenVideoProcessor: QwenVideos = {
  ...qwenImageProcessor,
  minPixels: 128 * 28 * 28,
  maxPixels: 768 * 28 * 28,
  resampling: { filter: 'bicubic', arithmetic: 'torchvision' },
  capsFrames: false,
  maxVideoTokens: 128_000,
};

/** What the lower bound of a frame's area is multiplied with when frames are capped. */
const FLOOR = 1.05;
/** Share of the context that a video of Qwen2.5 may take when frames are capped. */
const CONTEXT_SHARE = 0.9;

/** A video for Qwen2.5-VL, whose positions follow the seconds of a grid. */
export function qwen2Video(video: VideoFrames, config: QwenVideos): ModelImage {
  const { height, width } = checkFrames(video);
  const { temporalPatchSize, minPixels, maxVideoTokens } = config;
  const factor = config.patchSize * config.mergeSize;
  let maxPixels = config.maxPixels;
  if (config.capsFrames) {
    const budget = Math.trunc(maxVideoTokens * factor * factor * CONTEXT_SHARE);
    const share = Math.floor((budget * temporalPatchSize) / video.frames.length);
    maxPixels = Math.max(Math.min(maxPixels, share), Math.trunc(minPixels * FLOOR));
  }
  const size = smartResize(height, width, factor, minPixels, maxPixels);
  const secondsPerGrid = temporalPatchSize / frameRate(video);
  const resized = videoPatches(video.frames, size, config);
  return { ...resized, video: { ...timesOf(video), secondsPerGrid } };
}

/** A video for Qwen3-VL, whose times stand in the text. */
export function qwen3Video(video: VideoFrames, config: QwenVideos): ModelImage {
  const size = sizeOfAllFrames(checkFrames(video), video.frames.length, config);
  return { ...videoPatches(video.frames, size, config), video: timesOf(video) };
}

/** The size of each frame such that the area of all lies between the bounds. */
function sizeOfAllFrames(frame: TileSize, count: number, config: QwenVideos): TileSize {
  const { temporalPatchSize, minPixels } = config;
  const factor = config.patchSize * config.mergeSize;
  if (count < temporalPatchSize) {
    throw new DataError(
      `A video of ${count} frame(s) is too short: it must have at least ${temporalPatchSize}. ` +
        'Sample more frames, or send it as an image.',
    );
  }
  let maxPixels = config.maxPixels;
  if (config.capsFrames) {
    const cap = Math.min(
      config.maxVideoTokens * factor * factor,
      Math.floor(config.maxPixels / count),
    );
    maxPixels = Math.max(cap, Math.trunc(minPixels * FLOOR)) * count;
  }
  let { width, height } = frame;
  if (height < factor || width < factor) {
    const scale = Math.max(factor / height, factor / width);
    height = Math.trunc(height * scale);
    width = Math.trunc(width * scale);
  }
  const moments = roundHalfEven(count / temporalPatchSize) * temporalPatchSize;
  const whole = smartResize(height, width, factor, 0, Infinity);
  const area = moments * whole.width * whole.height;
  if (area > maxPixels) {
    const beta = Math.sqrt((count * height * width) / maxPixels);
    return {
      width: Math.max(factor, Math.floor(width / beta / factor) * factor),
      height: Math.max(factor, Math.floor(height / beta / factor) * factor),
    };
  }
  if (area < minPixels) {
    const beta = Math.sqrt(minPixels / (count * height * width));
    return {
      width: Math.ceil((width * beta) / factor) * factor,
      height: Math.ceil((height * beta) / factor) * factor,
    };
  }
  return whole;
}

/** The patches of all moments; the last frame is repeated until the last moment is whole. */
function videoPatches(
  frames: readonly DecodedImage[],
  size: TileSize,
  config: QwenVideos,
): ModelImage {
  const { patchSize, mergeSize, temporalPatchSize, resampling = DEFAULT_RESAMPLING } = config;
  const grids = Math.ceil(frames.length / temporalPatchSize);
  const gridHeight = size.height / patchSize;
  const gridWidth = size.width / patchSize;
  const patches = new Float32Array(grids * gridHeight * gridWidth * patchLength(config));
  const place = { left: 0, top: 0, gridWidth, gridHeight };
  const resized = frames.map((frame) => resize(frame, size.width, size.height, resampling));
  const last = resized.at(-1) as DecodedImage;
  let to = 0;
  for (let grid = 0; grid < grids; grid++) {
    const moment = Array.from(
      { length: temporalPatchSize },
      (_, t) => resized[grid * temporalPatchSize + t] ?? last,
    );
    to = writePatches(patches, to, moment, place, config, pixelValues(config));
  }
  return {
    patches,
    gridHeight,
    gridWidth,
    grids,
    tokenCount: (grids * gridHeight * gridWidth) / mergeSize ** 2,
    ...size,
  };
}

/**
 * The middle of each grid's first and last frame, seconds; the last frame is repeated until the
 * last grid is whole.
 */
export function gridTimes(timestamps: readonly number[], temporalPatchSize: number): number[] {
  const last = timestamps.at(-1) ?? 0;
  return Array.from({ length: Math.ceil(timestamps.length / temporalPatchSize) }, (_, grid) => {
    const start = timestamps[grid * temporalPatchSize] ?? last;
    const end = timestamps[(grid + 1) * temporalPatchSize - 1] ?? last;
    return (start + end) / 2;
  });
}
