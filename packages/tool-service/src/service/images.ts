/** Images as they come in requests: bytes that are checked before anything is decoded. */
import { DataError, importOptional } from '@saccade/core';
import { checkPng, checkSize, type ToolImage } from '@saccade/tools';
import type { CallRequest } from '../wire.ts';

const PNG_START = 0x89;

/**
 * The images of a request.
 *
 * @throws DataError for what is no PNG file, OversizedImage for one of too many pixels
 */
export function readImages(images: CallRequest['images'], maxPixels: number): readonly ToolImage[] {
  return images.map(({ name, png: base64, origin }) => {
    const png = bytesOf(base64);
    const size = checkPng(png, JSON.stringify(name), maxPixels);
    return { name, png, ...size, ...(origin && { origin }) };
  });
}

/** Bytes in base64; what is none gives bytes that are no image. */
export function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

/**
 * An image file as a PNG: PNG as it is; JPEG, WebP, GIF and TIFF decoded once their header has shown
 * how large they are. The orientation that a camera noted is left alone, as in the sandbox.
 *
 * @throws DataError for what is no image, OversizedImage for one of too many pixels, MissingError
 *   without the package sharp
 */
export async function asPng(
  encoded: Uint8Array,
  what: string,
  maxPixels: number,
): Promise<Pick<ToolImage, 'png' | 'width' | 'height'>> {
  if (encoded[0] === PNG_START) return { png: encoded, ...checkPng(encoded, what, maxPixels) };
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Reading images that are not PNG files',
    () => import('sharp'),
  );
  try {
    const image = sharp(encoded, { limitInputPixels: maxPixels, failOn: 'error' });
    const { width, height } = await image.metadata();
    checkSize({ width, height }, what, maxPixels);
    const { data, info } = await image.png().toBuffer({ resolveWithObject: true });
    return { png: new Uint8Array(data), width: info.width, height: info.height };
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError(`${what} is no image that can be read. Send a PNG or JPEG file.`, {
      cause: error,
    });
  }
}
