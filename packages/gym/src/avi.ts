/** Writes a video file: an AVI whose frames are PNG files, so that every pixel stays what it was. */
import { DataError } from '@saccade/core';

/** Frame size in pixels and frame rate in frames per second, for the headers of `encodeAvi`. */
export interface AviOptions {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
}

const isKeyFrame = 0x10;
const hasIndex = 0x10;

/**
 * An AVI file (RIFF, one stream, index at the end), its frames as they are given.
 *
 * No library for Node writes lossless video without a native encoder; this container is a few headers
 * and FFmpeg, and with it PyAV, OpenCV and most players, read it. Every frame is a key frame.
 *
 * @param frames PNG files of the same size; the same array may stand for several frames
 * @throws DataError without a frame
 */
export function encodeAvi(
  frames: readonly Uint8Array[],
  { width, height, framesPerSecond }: AviOptions,
): Uint8Array {
  if (frames.length === 0) throw new DataError('A video needs at least one frame. Give one.');
  const largest = Math.max(...frames.map(({ length }) => length));
  const main = words([
    ...[Math.round(1e6 / framesPerSecond), Math.ceil(largest * framesPerSecond), 0, hasIndex],
    ...[frames.length, 0, 1, largest, width, height, 0, 0, 0, 0],
  ]);
  // The rate is a fraction: a thousandth serves 23.976 as well.
  const rate = [1000, Math.round(framesPerSecond * 1000)];
  const stream = Buffer.concat([
    Buffer.from('vidsMPNG'),
    words([0, 0, 0, ...rate, 0, frames.length, largest, 0xffffffff, 0]),
    halves([0, 0, width, height]),
  ]);
  const format = Buffer.concat([
    words([40, width, height]),
    halves([1, 24]),
    Buffer.from('MPNG'),
    words([width * height * 3, 0, 0, 0, 0]),
  ]);
  const streams = list('strl', [chunk('strh', stream), chunk('strf', format)]);
  const index: number[] = [];
  // Places count from the list's name, which comes four bytes before its first frame.
  let place = 4;
  const images = frames.map((frame) => {
    const written = chunk('00dc', frame);
    index.push(Buffer.from('00dc').readUInt32LE(), isKeyFrame, place, frame.length);
    place += written.length;
    return written;
  });
  const parts = [
    list('hdrl', [chunk('avih', main), streams]),
    list('movi', images),
    chunk('idx1', words(index)),
  ];
  return Buffer.concat([
    Buffer.from('RIFF'),
    words([4 + lengthOf(parts)]),
    Buffer.from('AVI '),
    ...parts,
  ]);
}

function chunk(name: string, data: Uint8Array): Buffer {
  const padding = Buffer.alloc(data.length % 2);
  return Buffer.concat([Buffer.from(name), words([data.length]), data, padding]);
}

function list(name: string, parts: readonly Uint8Array[]): Buffer {
  return chunk('LIST', Buffer.concat([Buffer.from(name), ...parts]));
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    bytes.writeUInt32LE(value, 4 * i);
  });
  return bytes;
}

function halves(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, i) => {
    bytes.writeUInt16LE(value, 2 * i);
  });
  return bytes;
}
