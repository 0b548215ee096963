/// <reference lib="dom" />
/** In place of `decode-image.ts` in browsers: their own decoder, drawn on white. */
import { DataError, messageOf } from '@saccade/core';
import type { DecodedImage } from './decode-image.ts';
import { checkImageSize, imageSize, MAX_SOURCE_PIXELS } from './image-size.ts';

/**
 * Decodes an image on white.
 *
 * @param maxPixels images with more are refused by what their header says, before they are decoded
 * @throws DataError if it is no image, or has too many pixels
 */
export async function decodeImage(
  encoded: Uint8Array,
  maxPixels: number = MAX_SOURCE_PIXELS,
): Promise<DecodedImage> {
  const size = imageSize(encoded);
  if (size !== undefined) checkImageSize(size, maxPixels);
  try {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(encoded)]), {
      // The pixels as they are stored; Node's decoder applies no profile to plain sRGB either.
      colorSpaceConversion: 'none',
    });
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    if (context === null) throw new Error('there is no canvas to draw on');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, width, height);
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = new Uint8Array(width * height * 3);
    for (let from = 0, to = 0; from < data.length; from += 4, to += 3) {
      pixels.set(data.subarray(from, from + 3), to);
    }
    return { pixels, width, height };
  } catch (error) {
    throw new DataError(`An image could not be decoded: ${messageOf(error)}.`, { cause: error });
  }
}
