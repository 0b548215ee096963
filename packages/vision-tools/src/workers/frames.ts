/**
 * Length-prefixed frames to and from a worker; `python/frames.py` is the other side.
 *
 * A frame is two little-endian uint32 (bytes after this prefix, bytes of header), a JSON header, then
 * binary blobs, back to back, whose lengths are `header.blobs`.
 */
import { z } from 'zod';

const prefixBytes = 8;
const maxHeaderBytes = 16 * 1024 * 1024;
const maxFrameBytes = 512 * 1024 * 1024;

const sized = z.object({ blobs: z.array(z.int().min(0)).max(64) });

/** A frame that is whole. */
export interface Frame {
  readonly header: unknown;
  readonly blobs: readonly Uint8Array[];
}

/** The bytes of a frame in pieces, so that blobs are not copied. */
export function encodeFrame(
  header: Readonly<Record<string, unknown>>,
  blobs: readonly Uint8Array[],
): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify({ ...header, blobs: blobs.map(({ length }) => length) }));
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.length, text.length),
    0,
  );
  prefix.writeUInt32LE(text.length, 4);
  return [Buffer.concat([prefix, text]), ...blobs];
}

/** Turns a stream of chunks into frames; a frame's bytes are joined once, when it is whole. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes of the frame being read, its prefix included; unknown before the prefix is there. */
  #expected: number | undefined;

  /**
   * The frames that this chunk completes.
   *
   * @throws RangeError, SyntaxError or ZodError for what is no frame
   */
  push(chunk: Buffer): readonly Frame[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      if (this.#expected === undefined && this.#size >= prefixBytes) {
        this.#expected = expectedBytes(this.#joined());
      }
      if (this.#expected === undefined || this.#size < this.#expected) return frames;
      const all = this.#joined();
      frames.push(decodeFrame(all.subarray(0, this.#expected)));
      const rest = all.subarray(this.#expected);
      this.#chunks = rest.length > 0 ? [rest] : [];
      this.#size = rest.length;
      this.#expected = undefined;
    }
  }

  #joined(): Buffer {
    const [first, ...more] = this.#chunks;
    if (first !== undefined && more.length === 0) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function expectedBytes(prefix: Buffer): number {
  const length = prefix.readUInt32LE(0);
  const headerLength = prefix.readUInt32LE(4);
  if (length <= maxFrameBytes && headerLength <= Math.min(length, maxHeaderBytes)) {
    return prefixBytes + length;
  }
  throw new RangeError(`a frame of ${length} bytes with a header of ${headerLength}`);
}

function decodeFrame(bytes: Buffer): Frame {
  const bodyStart = prefixBytes + bytes.readUInt32LE(4);
  const header: unknown = JSON.parse(bytes.toString('utf8', prefixBytes, bodyStart));
  let offset = bodyStart;
  const blobs = sized.parse(header).blobs.map((size) => {
    offset += size;
    return new Uint8Array(bytes.subarray(offset - size, offset));
  });
  if (offset !== bytes.length) throw new RangeError('blobs that do not fill their frame');
  return { header, blobs };
}
