/** Reads as much of a PNG as its size takes, before anything decodes it. */

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;

/** In pixels. */
export interface PngSize {
  readonly width: number;
  readonly height: number;
}

/** Whether bytes begin as a PNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return signature.every((byte, index) => bytes[index] === byte);
}

/** Width and height in pixels as the header states them; undefined if there is no such header. */
export function pngSize(bytes: Uint8Array): PngSize | undefined {
  if (!isPng(bytes) || bytes.length < 33) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // A length of 13 and `IHDR`, then width and height.
  if (view.getUint32(8) !== 13 || view.getUint32(12) !== 0x49484452) return undefined;
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  return width > 0 && height > 0 ? { width, height } : undefined;
}
