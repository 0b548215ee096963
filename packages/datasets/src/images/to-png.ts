/** Any encoded image as PNG bytes, upright, with its size. */
import { DataError, messageOf } from '@saccade/core';
import type { Metadata } from 'sharp';
import { formatOf } from './image-format.ts';

/** An image as tasks carry it. */
export interface PngImage {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
}

export interface PngOptions {
  /** Images with more pixels are refused by what their header says, before they are decoded. */
  readonly maxPixels: number;
}

/** Of a PNG that is upright and has 8 bits, the bytes stay as they are. */
const PLAIN_DEPTHS = new Set(['uchar']);

/**
 * PNG bytes of a PNG, JPEG, WebP or GIF (its first frame), turned as its EXIF orientation says. Color
 * profiles are left out of account, as Pillow does; transparency stays.
 *
 * @throws DataError if it is of another format, too large, or cannot be decoded as a whole
 */
export async function toPng(bytes: Uint8Array, { maxPixels }: PngOptions): Promise<PngImage> {
  const { default: sharp } = await import('sharp');
  const found = formatOf(bytes);
  if ('refused' in found) throw new DataError(`the image is ${found.refused}. ${found.remedy}`);
  const header = await metadataOf(bytes);
  checkSize(header, maxPixels);
  // Warnings are of files that others read, too; an error is of pixels that are lost.
  const options = { limitInputPixels: maxPixels, failOn: 'error', ignoreIcc: true } as const;
  try {
    const isUpright = (header.orientation ?? 1) === 1;
    if (found.format === 'png' && isUpright && PLAIN_DEPTHS.has(header.depth)) {
      // Decoded all the same: a part may be damaged.
      const { info } = await sharp(bytes, options).raw().toBuffer({ resolveWithObject: true });
      return { png: bytes, width: info.width, height: info.height };
    }
    const upright = sharp(bytes, options).autoOrient();
    const png = header.space === 'b-w' ? upright.toColorspace('b-w') : upright;
    const { data, info } = await png
      .png({ compressionLevel: 2 })
      .toBuffer({ resolveWithObject: true });
    return { png: data, width: info.width, height: info.height };
  } catch (error) {
    throw undecodable(error);
  }
}

async function metadataOf(bytes: Uint8Array): Promise<Metadata> {
  const { default: sharp } = await import('sharp');
  try {
    return await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw undecodable(error);
  }
}

/** @throws DataError for a size of which decoding would take too much memory */
function checkSize({ width, height }: Metadata, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new DataError(
    `the image has ${width}×${height} pixels, and at most ${maxPixels} are decoded. Make it smaller, ` +
      'or raise maxPixels.',
  );
}

function undecodable(error: unknown): DataError {
  const [first = ''] = messageOf(error).split('\n');
  return new DataError(`the image cannot be decoded: ${first}`, { cause: error });
}
