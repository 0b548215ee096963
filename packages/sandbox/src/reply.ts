/**
 * A session's reply to a request, as bytes; `python/session_wire.py` writes it.
 *
 * The record, five little-endian uint32: kind, number of the request, bytes of header, blobs, bytes
 * in all. Then the header, JSON; the blobs' lengths as uint32; the blobs. Submitted code can have
 * written any of it, so everything is bounded before it is looked at, and nothing here throws.
 */
import type { Limits } from './limits.ts';

const replyKinds = ['opened', 'failed', 'refused', 'result', 'died'] as const;
type ReplyKind = (typeof replyKinds)[number];

export interface Reply {
  readonly kind: ReplyKind;
  /** Number of the request: 0 for the start, then one for each execution. */
  readonly number: number;
  /** An object of JSON; nothing is known of its fields. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly blobs: readonly Uint8Array[];
}

/** Why a session's bytes cannot be a reply, in words that follow `by`. */
export interface BrokenReply {
  readonly kind: 'broken';
  readonly reason: string;
}

const recordBytes = 20;
const lengthBytes = 4;
/** A result nests four levels deep: images, an entry, its origin, the map. */
const maxDepth = 8;
/** Traceback, message and repairs, each character escaped, and what an image's entry takes. */
const fixedHeaderBytes = 384 * 1024;
const entryBytes = 16 * 1024;
/** A byte of output becomes at most `\\u0000`. */
const escapedBytes = 6;

/** Bytes of JSON that a result needs at most. */
function maxHeaderBytes({ outputBytes, imageCount }: Limits): number {
  return fixedHeaderBytes + 2 * escapedBytes * outputBytes + entryBytes * imageCount;
}

function broken(reason: string): BrokenReply {
  return { kind: 'broken', reason };
}

export function decodeReply(bytes: Uint8Array, limits: Limits): Reply | BrokenReply {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (body.length < recordBytes) return broken(`writing a reply of ${body.length} bytes`);
  const [kindNumber, number, headerBytes, blobCount, size] = [0, 4, 8, 12, 16].map((at) =>
    body.readUInt32LE(at),
  ) as [number, number, number, number, number];
  const kind = replyKinds[kindNumber - 1];
  if (kind === undefined) return broken(`writing a reply of kind ${kindNumber}`);
  if (body.length !== recordBytes + size) {
    return broken(`writing a reply of ${body.length - recordBytes} bytes that claims ${size}`);
  }
  if (headerBytes > maxHeaderBytes(limits)) {
    return broken(`writing a reply with a header of ${headerBytes} bytes`);
  }
  if (blobCount > limits.imageCount) return broken(`writing a reply with ${blobCount} blobs`);
  const blobs = cutBlobs(body, recordBytes + headerBytes, blobCount);
  if (blobs === undefined) return broken('writing a reply whose lengths do not fit');
  const text = body.subarray(recordBytes, recordBytes + headerBytes);
  if (isDeeper(text, maxDepth)) return broken('writing a reply that nests too deep');
  const header = parseObject(text);
  if (header === undefined) return broken('writing a reply that is no JSON object');
  return { kind, number, header, blobs };
}

/** The blobs behind their lengths, which must fill the body; undefined if they do not. */
function cutBlobs(body: Buffer, lengthsAt: number, count: number): Uint8Array[] | undefined {
  let at = lengthsAt + lengthBytes * count;
  if (at > body.length) return undefined;
  const blobs: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    const length = body.readUInt32LE(lengthsAt + lengthBytes * index);
    if (length > body.length - at) return undefined;
    // A copy: a view would keep the whole frame, and others' chunks, alive.
    blobs.push(new Uint8Array(body.subarray(at, at + length)));
    at += length;
  }
  return at === body.length ? blobs : undefined;
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [34, 92, 91, 93, 123, 125];

/** Whether JSON has more levels than `most`, without parsing it. */
function isDeeper(text: Uint8Array, most: number): boolean {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (isInText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInText = false;
    } else if (byte === quote) isInText = true;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth > most) return true;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
  }
  return false;
}

function parseObject(text: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
