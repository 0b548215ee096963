/** Converts images to patches, like Qwen2-VL's image processor. */

import { DataError, span } from '@saccade/core';
import { decodeImage } from '#decode-image';
import type { ModelImage } from '../batch.ts';
import { type PatchLayout, patchLength, writePatches } from './images/patches.ts';
import { DEFAULT_RESAMPLING, type PixelConfig, pixelValues } from './images/pixel-values.ts';
import { resize } from './resample/resize.ts';
import { roundHalfEven } from './round-half-even.ts';

/** How images are resized, normalized and divided into patches: `preprocessor_config.json`. */
export interface ImageProcessorConfig extends PatchLayout, PixelConfig {
  /** Smallest and largest area after resizing, pixels. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /**
   * Largest area before resizing, pixels. A larger image is refused by its header, before it is
   * decoded. Default 2²⁶, which is 192 MiB when decoded.
   */
  readonly maxSourcePixels?: number;
}

/**
 * The image processor of Qwen2.5-VL with at most 1280 tokens per image, where the published
 * configuration has 16384. A token is 28×28 pixels.
 */
export const qwenImageProcessor: ImageProcessorConfig = {
  patchSize: 14,
  mergeSize: 2,
  temporalPatchSize: 2,
  minPixels: 56 * 56,
  maxPixels: 28 * 28 * 1280,
  mean: [0.48145466, 0.4578275, 0.40821073],
  std: [0.26862954, 0.26130258, 0.27577711],
};

const MAX_ASPECT = 200;

/**
 * The size at which the model gets an image: the sides are multiples of `factor`, the area is
 * between the bounds, and the aspect ratio is as close as possible.
 *
 * @throws DataError if one side is more than 200 times the other
 */
export function smartResize(
  height: number,
  width: number,
  factor: number,
  minPixels: number,
  maxPixels: number,
): { readonly height: number; readonly width: number } {
  if (Math.max(height, width) / Math.min(height, width) > MAX_ASPECT) {
    throw new DataError(
      `An image of ${width}×${height} is too narrow: its sides may differ by a factor of ` +
        `${MAX_ASPECT}. Crop it.`,
    );
  }
  let h = roundHalfEven(height / factor) * factor;
  let w = roundHalfEven(width / factor) * factor;
  if (h * w > maxPixels) {
    const beta = Math.sqrt((height * width) / maxPixels);
    h = Math.max(factor, Math.floor(height / beta / factor) * factor);
    w = Math.max(factor, Math.floor(width / beta / factor) * factor);
  } else if (h * w < minPixels) {
    const beta = Math.sqrt(minPixels / (height * width));
    h = Math.ceil((height * beta) / factor) * factor;
    w = Math.ceil((width * beta) / factor) * factor;
  }
  return { height: h, width: w };
}

/**
 * Decodes and resizes an image, normalizes its pixels and divides it into patches.
 *
 * @throws DataError if the bytes are not an image, or it has more than `maxSourcePixels`
 */
export async function prepareImage(
  encoded: Uint8Array,
  config: ImageProcessorConfig,
): Promise<ModelImage> {
  const { pixels, width, height } = await decodeImage(encoded, config.maxSourcePixels);
  return patchesOf(pixels, width, height, config);
}

/** The same from raw interleaved RGB [height, width, 3]. */
export function patchesOf(
  pixels: Uint8Array,
  width: number,
  height: number,
  config: ImageProcessorConfig,
): ModelImage {
  const { patchSize, mergeSize, temporalPatchSize, resampling = DEFAULT_RESAMPLING } = config;
  const factor = patchSize * mergeSize;
  const size = smartResize(height, width, factor, config.minPixels, config.maxPixels);
  const resized = span('images/resize', () =>
    resize({ pixels, width, height }, size.width, size.height, resampling),
  );
  const gridHeight = size.height / patchSize;
  const gridWidth = size.width / patchSize;
  const patches = new Float32Array(gridHeight * gridWidth * patchLength(config));
  const place = { left: 0, top: 0, gridWidth, gridHeight };
  // An image is the same in every frame of its temporal patch.
  const frames = Array.from({ length: temporalPatchSize }, () => resized);
  span('images/patches', () =>
    writePatches(patches, 0, frames, place, config, pixelValues(config)),
  );
  return {
    patches,
    gridHeight,
    gridWidth,
    tokenCount: (gridHeight * gridWidth) / mergeSize ** 2,
    width: size.width,
    height: size.height,
  };
}
