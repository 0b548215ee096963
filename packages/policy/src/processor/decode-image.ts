/** Encoded images of any common format to 8-bit RGB. */
import { DataError, messageOf, span, spanElsewhere } from '@saccade/core';
import { decode, hasPngSignature } from 'fast-png';
import { checkImageSize, imageSize, MAX_SOURCE_PIXELS } from './image-size.ts';

/** The pixels of an image, without alpha. */
export interface DecodedImage {
  /** [height, width, 3] */
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Below this many pixels a PNG is decoded here: starting sharp's pipeline takes a millisecond, five
 * times as long as a crop of 28×28. Larger ones take sharp a third of the time.
 */
const SMALL_PIXELS = 128 * 128;

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
  const { default: sharp } = await import('sharp');
  const size = imageSize(encoded);
  if (size !== undefined) checkImageSize(size, maxPixels);
  const small = span('images/decode', () => decodeSmallPng(encoded));
  if (small !== undefined) return small;
  // For other formats sharp reads the header.
  if (size === undefined) checkImageSize(await headerOf(encoded), maxPixels);
  try {
    const { data, info } = await spanElsewhere('images/decode by sharp', () =>
      sharp(encoded, { limitInputPixels: maxPixels })
        .flatten({ background: '#fff' })
        .toColorspace('srgb')
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true }),
    );
    return { pixels: data, width: info.width, height: info.height };
  } catch (error) {
    throw undecodable(error);
  }
}

async function headerOf(encoded: Uint8Array): Promise<{ width: number; height: number }> {
  const { default: sharp } = await import('sharp');
  try {
    return await sharp(encoded, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw undecodable(error);
  }
}

function undecodable(error: unknown): DataError {
  return new DataError(`An image could not be decoded: ${messageOf(error)}.`, { cause: error });
}

/** The image if it is a small opaque 8-bit RGB PNG without a color profile, as crops are. */
function decodeSmallPng(encoded: Uint8Array): DecodedImage | undefined {
  // The signature, then the header: width, height, depth, color type, …, interlacing.
  if (encoded.length < 33 || !hasPngSignature(encoded)) return undefined;
  const header = new DataView(encoded.buffer, encoded.byteOffset, 33);
  const isPlain = header.getUint16(24) === 0x0802 && header.getUint8(28) === 0;
  if (!isPlain || header.getUint32(16) * header.getUint32(20) > SMALL_PIXELS) return undefined;
  try {
    const { data, width, height, transparency, iccEmbeddedProfile } = decode(encoded, {
      checkCrc: true,
    });
    if (transparency !== undefined || iccEmbeddedProfile !== undefined) return undefined;
    return { pixels: data as Uint8Array, width, height };
  } catch {
    // Broken, or a chunk it does not know: sharp says what.
    return undefined;
  }
}
