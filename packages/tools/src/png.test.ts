import { DataError } from '@saccade/core';
import { coordinateImage } from '@saccade/sandbox/contract';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { checkPng, OversizedImage } from './png.ts';

const png = coordinateImage(100, 80);

/** A copy with one byte changed. */
function changed(at: number, to: number): Uint8Array {
  const copy = Uint8Array.from(png);
  copy[at] = to;
  return copy;
}

/** A file that claims a size of its own, with a header that is right in itself. */
function claiming(width: number, height: number): Uint8Array {
  const file = encode({ width: 1, height: 1, channels: 3, depth: 8, data: new Uint8Array(3) });
  const copy = Buffer.from(file);
  copy.writeUInt32BE(width, 16);
  copy.writeUInt32BE(height, 20);
  // As in the PNG specification's appendix: the remainder over the chunk's type and data.
  let crc = 0xffffffff;
  for (const byte of copy.subarray(12, 29)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  copy.writeUInt32BE((crc ^ 0xffffffff) >>> 0, 29);
  return copy;
}

describe('a PNG file', () => {
  it('tells its size', () => {
    expect(checkPng(png, 'image_0', 8000)).toEqual({ width: 100, height: 80 });
    expect(checkPng(claiming(3, 5), 'image_0', 15)).toEqual({ width: 3, height: 5 });
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /is no PNG/],
    ['text', Buffer.from('GIF89a, or so it says'), /is no PNG/],
    ['a JPEG file', Uint8Array.from([0xff, 0xd8, 0xff, 0xe0]), /is no PNG/],
    ['the signature alone', png.slice(0, 8), /breaks off/],
    ['half a file', png.slice(0, png.length / 2), /breaks off/],
    ['all but the end', png.slice(0, -1), /breaks off/],
    ['another byte', changed(60, 7), /checksum/],
    ['a chunk that claims gigabytes', changed(33, 0xff), /breaks off/],
    ['no width', claiming(0, 5), /no pixels/],
  ])('is refused: %s', (_, bytes, message) => {
    expect(() => checkPng(bytes, 'image_0', 1e6)).toThrow(DataError);
    expect(() => checkPng(bytes, 'image_0', 1e6)).toThrow(message);
  });

  it.each([
    [10_001, 10_000],
    [0xffffffff, 0xffffffff],
    [1, 1e9],
  ])('of %i×%i pixels is refused without being decoded', (width, height) => {
    expect(() => checkPng(claiming(width, height), 'image_0', 1e8)).toThrow(OversizedImage);
  });
});
