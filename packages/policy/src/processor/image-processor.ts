/** Converts images to patches, like Qwen2-VL's image processor. */

import { DataError } from '@saccade/core';
import { decodeImage } from '#decode-image';
import type { ModelImage } from '../batch.ts';
import { resizeBicubic } from './bicubic.ts';

/** How images are resized, normalized and divided into patches: `preprocessor_config.json`. */
export interface ImageProcessorConfig {
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a unit, which becomes one token. */
  readonly mergeSize: number;
  /** Frames per patch; an image is repeated for each. */
  readonly temporalPatchSize: number;
  /** Smallest and largest area after resizing, pixels. */
  readonly minPixels: number;
  readonly maxPixels: number;
  /**
   * Largest area before resizing, pixels. A larger image is refused by its header, before it is
   * decoded. Default 2²⁶, which is 192 MiB when decoded.
   */
  readonly maxSourcePixels?: number;
  /**
   * Mean and standard deviation by which channel values in [0, 1] are normalized: red, green, blue.
   */
  readonly mean: readonly [number, number, number];
  readonly std: readonly [number, number, number];
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

/** Python's rounding: halves go to the even number. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}

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
  const { patchSize, mergeSize, temporalPatchSize } = config;
  const factor = patchSize * mergeSize;
  const size = smartResize(height, width, factor, config.minPixels, config.maxPixels);
  const resized = resizeBicubic(pixels, width, height, size.width, size.height);
  const gridHeight = size.height / patchSize;
  const gridWidth = size.width / patchSize;
  const area = patchSize * patchSize;
  const patches = new Float32Array(gridHeight * gridWidth * 3 * temporalPatchSize * area);
  const tables = normalization(config);
  let to = 0;
  for (let unitRow = 0; unitRow < gridHeight; unitRow += mergeSize) {
    for (let unitColumn = 0; unitColumn < gridWidth; unitColumn += mergeSize) {
      for (let patch = 0; patch < mergeSize * mergeSize; patch++) {
        const top = (unitRow + Math.floor(patch / mergeSize)) * patchSize;
        const left = (unitColumn + (patch % mergeSize)) * patchSize;
        for (let channel = 0; channel < 3; channel++) {
          const table = tables[channel] as Float32Array;
          const start = to;
          for (let y = 0; y < patchSize; y++) {
            let from = ((top + y) * size.width + left) * 3 + channel;
            for (let x = 0; x < patchSize; x++, from += 3) {
              patches[to++] = table[resized[from] as number] as number;
            }
          }
          // An image is the same in every frame of its temporal patch.
          for (let t = 1; t < temporalPatchSize; t++) {
            patches.copyWithin(to, start, start + area);
            to += area;
          }
        }
      }
    }
  }
  return {
    patches,
    gridHeight,
    gridWidth,
    tokenCount: (gridHeight * gridWidth) / mergeSize ** 2,
    width: size.width,
    height: size.height,
  };
}

const normalizations = new WeakMap<ImageProcessorConfig, readonly Float32Array[]>();

/** [3][256]: the normalized value of each byte, by channel. */
function normalization(config: ImageProcessorConfig): readonly Float32Array[] {
  let tables = normalizations.get(config);
  if (tables === undefined) {
    const { mean, std } = config;
    tables = mean.map((center, channel) =>
      Float32Array.from({ length: 256 }, (_, byte) => (byte / 255 - center) / (std[channel] ?? 1)),
    );
    normalizations.set(config, tables);
  }
  return tables;
}
