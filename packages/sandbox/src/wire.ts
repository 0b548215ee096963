/**
 * Length-prefixed frames to and from the fork server; `python/wire.py` is the other side.
 *
 * A frame is three little-endian uint32 (bytes after this prefix, session, bytes of header), a
 * header, then a body. To the server, and from session 0, which is the server itself, the header is
 * JSON and the body is binary blobs whose lengths are `header.blobs`. From another session all of it
 * is a reply, which code may have written: `reply.ts` decodes that.
 */

/** A frame whose content nobody has looked at. */
export interface Frame {
  readonly session: number;
  readonly headerLength: number;
  readonly body: Buffer;
}

const prefixBytes = 12;
export const maxFrameBytes: number = 64 * 1024 * 1024;

/** The bytes of a frame, in pieces, so that blobs are not copied. */
export function encodeFrame(
  session: number,
  header: Readonly<Record<string, unknown>>,
  blobs: readonly Uint8Array[] = [],
): Uint8Array[] {
  const withBlobs = blobs.length > 0 ? { ...header, blobs: blobs.map((b) => b.length) } : header;
  const text = Buffer.from(JSON.stringify(withBlobs));
  const prefix = Buffer.allocUnsafe(prefixBytes);
  const blobBytes = blobs.reduce((sum, blob) => sum + blob.length, 0);
  prefix.writeUInt32LE(text.length + blobBytes, 0);
  prefix.writeUInt32LE(session, 4);
  prefix.writeUInt32LE(text.length, 8);
  return [Buffer.concat([prefix, text]), ...blobs];
}

/**
 * The header of a frame from the server itself.
 *
 * @throws SyntaxError if it is not JSON
 */
export function decodeHeader({ body, headerLength }: Frame): unknown {
  return JSON.parse(body.toString('utf8', 0, headerLength));
}

/** Turns a stream of chunks into frames. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;

  /**
   * The frames completed by this chunk.
   *
   * @throws RangeError for a frame of impossible size
   */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const frames: Frame[] = [];
    while (this.#size >= prefixBytes) {
      const prefix = this.#head(prefixBytes);
      const length = prefix.readUInt32LE(0);
      const headerLength = prefix.readUInt32LE(8);
      if (length > maxFrameBytes || headerLength > length) {
        throw new RangeError(`a frame of ${length} bytes with a header of ${headerLength}`);
      }
      if (this.#size < prefixBytes + length) break;
      const whole = this.#take(prefixBytes + length);
      const session = whole.readUInt32LE(4);
      frames.push({ session, headerLength, body: whole.subarray(prefixBytes) });
    }
    return frames;
  }

  /** At least `count` bytes in one piece, left in place. */
  #head(count: number): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= count) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #take(count: number): Buffer {
    const head = this.#head(count);
    const rest = head.subarray(count);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#size -= count;
    return head.subarray(0, count);
  }
}
