/** Set up before each test file: typed arrays that hold the same bytes are equal at once. */
import { expect } from 'vitest';

const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Vitest compares number by number, a million of them in seconds. It still does where bytes differ. */
function hasSameBytes(a: unknown, b: unknown): true | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (a.constructor !== b.constructor || a.byteLength !== b.byteLength) return undefined;
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0 ? true : undefined;
}

expect.addEqualityTesters([hasSameBytes]);
