import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeHeader, encodeFrame, FrameReader, maxFrameBytes } from './wire.ts';

const frames = [
  { session: 0, header: { type: 'ready' }, blobs: [] },
  { session: 7, header: { text: 'é\u0000"' }, blobs: [new Uint8Array([1, 2, 3])] },
  { session: 2 ** 32 - 1, header: {}, blobs: [new Uint8Array(0), new Uint8Array(70_000).fill(9)] },
];

const bytes = Buffer.concat(frames.flatMap((f) => encodeFrame(f.session, f.header, f.blobs)));

const withLengths = (header: object, blobs: readonly Uint8Array[]): object =>
  blobs.length === 0 ? header : { ...header, blobs: blobs.map(({ length }) => length) };

describe('frames', () => {
  it('come out as they went in, however the stream is cut', () => {
    for (const size of [1, 5, 11, 12, 13, 1000, 65_536, bytes.length]) {
      const reader = new FrameReader();
      const read = [];
      for (let at = 0; at < bytes.length; at += size) {
        read.push(...reader.push(bytes.subarray(at, at + size)));
      }
      for (const [index, { session, header, blobs }] of frames.entries()) {
        const frame = read[index];
        if (frame === undefined) throw new Error('There are too few frames.');
        expect([frame.session, decodeHeader(frame)]).toEqual([session, withLengths(header, blobs)]);
        expect(Buffer.compare(frame.body.subarray(frame.headerLength), Buffer.concat(blobs))).toBe(
          0,
        );
      }
      expect(read).toHaveLength(frames.length);
    }
  });

  it('are the same bytes in Python', () => {
    const code =
      'import sys; sys.path.insert(0, sys.argv[1]); import wire\n' +
      'buffer = wire.FrameBuffer(); buffer.feed(sys.stdin.buffer.read())\n' +
      'while (frame := buffer.take()) is not None:\n' +
      '    header, blobs = wire.decode(frame[2], frame[1])\n' +
      '    sys.stdout.buffer.write(wire.encode(frame[0], header, blobs))';
    const sources = join(import.meta.dirname, '../python');
    const output = execFileSync('python3', ['-B', '-c', code, sources], { input: bytes });
    const read = new FrameReader().push(output);
    expect(read.map(({ session }) => session)).toEqual(frames.map(({ session }) => session));
    for (const [index, frame] of read.entries()) {
      const { header = {}, blobs = [] } = frames[index] ?? {};
      expect(decodeHeader(frame)).toEqual(withLengths(header, blobs));
      expect(frame.body.subarray(frame.headerLength).equals(Buffer.concat(blobs))).toBe(true);
    }
  });

  it('of impossible size end the stream with an error', () => {
    const prefix = Buffer.alloc(12);
    prefix.writeUInt32LE(maxFrameBytes + 1, 0);
    expect(() => new FrameReader().push(prefix)).toThrow(RangeError);
    prefix.writeUInt32LE(4, 0);
    prefix.writeUInt32LE(5, 8);
    expect(() => new FrameReader().push(prefix)).toThrow(RangeError);
  });
});
