/** Width and height of an encoded image from its header alone. */
import { DataError } from '@saccade/core';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The size that an image declares, as decoders will take it. Nothing is decoded, and the time does
 * not depend on that size.
 *
 * @returns undefined for anything but a PNG, JPEG, WebP or GIF with a whole header
 */
export function imageSize(encoded: Uint8Array): ImageSize | undefined {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const size = pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function textAt(view: DataView, at: number, length: number): string {
  if (view.byteLength < at + length) return '';
  return String.fromCharCode(...Array.from({ length }, (_, i) => view.getUint8(at + i)));
}

function pngSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || textAt(view, 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  if (textAt(view, 12, 4) !== 'IHDR') return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** The screen; frames are cut to it, but decoders make room for larger ones: the largest counts. */
function gifSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 13 || !/^GIF8[79]a$/.test(textAt(view, 0, 6))) return undefined;
  let width = view.getUint16(6, true);
  let height = view.getUint16(8, true);
  const flags = view.getUint8(10);
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  while (at + 10 <= view.byteLength) {
    const kind = view.getUint8(at);
    if (kind === 0x2c) {
      width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true));
      height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true));
      const local = view.getUint8(at + 9);
      at += 11 + ((local & 0x80) === 0 ? 0 : 3 * 2 ** ((local & 7) + 1));
    } else if (kind === 0x21) {
      at += 2;
    } else {
      break;
    }
    while (at < view.byteLength && view.getUint8(at) !== 0) at += 1 + view.getUint8(at);
    at += 1;
  }
  return { width, height };
}

function webpSize(view: DataView): ImageSize | undefined {
  if (textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP' || view.byteLength < 30) {
    return undefined;
  }
  const kind = textAt(view, 12, 4);
  if (kind === 'VP8 ') {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (kind === 'VP8L') {
    const bits = view.getUint32(21, true);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  if (kind !== 'VP8X') return undefined;
  const uint24 = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  return { width: 1 + uint24(24), height: 1 + uint24(27) };
}

/** Markers that begin a frame: SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function jpegSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    // Between segments decoders skip to the next marker.
    if (view.getUint8(at) !== 0xff) {
      at++;
      continue;
    }
    const marker = view.getUint8(at + 1);
    if (marker === 0xff || marker === 0 || (marker >= 0xd0 && marker <= 0xd8) || marker === 1) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker === 0xd9 || marker === 0xda) return undefined;
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Pixels that an encoded image may have by default: 64 Mi, 192 MiB once it is decoded. */
export const MAX_SOURCE_PIXELS: number = 2 ** 26;

/** @throws DataError naming the size and the limit */
export function checkImageSize({ width, height }: ImageSize, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new DataError(
    `An image of ${width}×${height} has ${width * height} pixels; at most ${maxPixels} are ` +
      'decoded. Make it smaller, or raise maxSourcePixels.',
  );
}
