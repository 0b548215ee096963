import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeFrame, type Frame, FrameReader, maxFrameBytes } from './wire.ts';

const frames: readonly Frame[] = [
  { session: 0, header: { type: 'ready' }, blobs: [] },
  { session: 7, header: { text: 'é\u0000"' }, blobs: [new Uint8Array([1, 2, 3])] },
  { session: 2 ** 32 - 1, header: {}, blobs: [new Uint8Array(0), new Uint8Array(70_000).fill(9)] },
];

const bytes = Buffer.concat(frames.flatMap((f) => encodeFrame(f.session, f.header, f.blobs)));

describe('frames', () => {
  it('come out as they went in, however the stream is cut', () => {
    for (const size of [1, 5, 11, 12, 13, 1000, 65_536, bytes.length]) {
      const reader = new FrameReader();
      const read: Frame[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        read.push(...reader.push(bytes.subarray(at, at + size)));
      }
      const withoutLengths = read.map(({ session, header, blobs }) => {
        const { blobs: _, ...rest } = header;
        return { session, header: rest, blobs };
      });
      expect(withoutLengths).toEqual(frames);
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
    const reader = new FrameReader();
    const [first, second, third] = reader.push(output);
    expect(first).toEqual(frames[0]);
    expect(second?.blobs).toEqual(frames[1]?.blobs);
    expect(second?.header.text).toBe('é\u0000"');
    expect(third).toMatchObject({ session: 2 ** 32 - 1, blobs: frames[2]?.blobs });
  });

  it('of impossible size end the stream with an error', () => {
    const prefix = Buffer.alloc(12);
    prefix.writeUInt32LE(maxFrameBytes + 1, 0);
    expect(() => new FrameReader().push(prefix)).toThrow(RangeError);
    prefix.writeUInt32LE(4, 0);
    prefix.writeUInt32LE(5, 8);
    expect(() => new FrameReader().push(prefix)).toThrow(RangeError);
  });

  it('with a header that is no JSON, or with false lengths, come out empty', () => {
    for (const text of ['{"a', 'null', '{"blobs": [5]}', '{"blobs": [-1]}']) {
      const prefix = Buffer.alloc(12);
      prefix.writeUInt32LE(text.length, 0);
      prefix.writeUInt32LE(3, 4);
      prefix.writeUInt32LE(text.length, 8);
      const [frame] = new FrameReader().push(Buffer.concat([prefix, Buffer.from(text)]));
      expect(frame).toEqual({ session: 3, header: {}, blobs: [] });
    }
  });
});
