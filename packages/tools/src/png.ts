/** Looks at PNG files without decoding them: whether they are whole, and how large they are. */
import { crc32 } from 'node:zlib';
import { DataError } from '@saccade/core';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;
const HEADER_LENGTH = 13;

/** Pixels of an image. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The most pixels of one image that a tool gives: a policy's processor reads no larger ones
 * (`MAX_SOURCE_PIXELS` of `@saccade/policy`).
 */
export const MOST_IMAGE_PIXELS: number = 2 ** 26;

/** The file has more pixels than are accepted. */
export class OversizedImage extends DataError {}

/**
 * The size of a PNG file, once every chunk from the header to the end is there and unbroken. The
 * pixels are not decoded: whatever a file claims costs no memory.
 *
 * @param what names the image in errors, e.g. `image_0`
 * @throws DataError for what is no whole PNG file, OversizedImage beyond `maxPixels`
 */
export function checkPng(bytes: Uint8Array, what: string, maxPixels: number): ImageSize {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!file.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
    throw new DataError(`${what} is no PNG image. Send the bytes of a PNG file.`);
  }
  const broken = (how: string): DataError =>
    new DataError(`${what} is a broken PNG image: ${how}. Send the whole file as it was written.`);
  let size: ImageSize | undefined;
  let hasPixels = false;
  for (let at = SIGNATURE.length; ; ) {
    if (at + CHUNK_FRAME > file.length) throw broken('it breaks off');
    const length = file.readUInt32BE(at);
    const end = at + CHUNK_FRAME + length;
    if (end > file.length) throw broken('it breaks off');
    const type = file.toString('latin1', at + 4, at + 8);
    if (crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) {
      throw broken('a checksum does not fit');
    }
    if (size === undefined) {
      if (type !== 'IHDR' || length !== HEADER_LENGTH) throw broken('it has no header');
      size = { width: file.readUInt32BE(at + 8), height: file.readUInt32BE(at + 12) };
      checkSize(size, what, maxPixels);
    }
    hasPixels ||= type === 'IDAT';
    if (type === 'IEND') break;
    at = end;
  }
  if (!hasPixels) throw broken('it has no pixels');
  return size;
}

/**
 * Checks an image that somebody says the size of.
 *
 * @param what names the image in errors, e.g. `image 0`
 * @throws DataError for what is no whole PNG file of that size, OversizedImage beyond `maxPixels`
 */
export function checkImage(
  { png, width, height }: ImageSize & { readonly png: Uint8Array },
  what: string,
  maxPixels: number,
): void {
  const size = checkPng(png, what, maxPixels);
  if (size.width === width && size.height === height) return;
  throw new DataError(
    `${what} is ${size.width}×${size.height} and says that it is ${width}×${height}. ` +
      'Give the size of the file.',
  );
}

/** @throws DataError for an image without pixels, OversizedImage for one with too many */
export function checkSize({ width, height }: ImageSize, what: string, maxPixels: number): void {
  if (width < 1 || height < 1) throw new DataError(`${what} has no pixels. Send another image.`);
  if (width * height <= maxPixels) return;
  throw new OversizedImage(
    `${what} has ${width}×${height} pixels, more than the ${maxPixels} that are accepted. ` +
      'Send a smaller image.',
  );
}
