/** Files of any length: Node moves at most 2 GiB at a time, less than the head of a 7B model in float32. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

const PIECE = 2 ** 30;

/** @param piece  bytes to write at a time */
export function writeBytes(path: string, bytes: Uint8Array, piece = PIECE): void {
  const file = openSync(path, 'w');
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(file, bytes, at, Math.min(piece, bytes.length - at));
    }
  } finally {
    closeSync(file);
  }
}

/**
 * @param piece  bytes to read at a time
 * @returns      a buffer of its own
 */
export function readBytes(path: string, piece = PIECE): ArrayBuffer {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(fstatSync(file).size);
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(file, bytes, at, Math.min(piece, bytes.length - at), at);
      if (count === 0) throw new Error(`${path} has become shorter than ${bytes.length} bytes.`);
      at += count;
    }
    return bytes.buffer;
  } finally {
    closeSync(file);
  }
}
