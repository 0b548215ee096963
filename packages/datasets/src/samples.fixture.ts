/** Images and folders for tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import sharp from 'sharp';

/** A folder that is removed when the file's tests are over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'saccade-datasets-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An encoded image that is different for every number: a ramp with a bright square. */
export async function image(
  number: number,
  format: 'png' | 'jpeg' | 'webp' | 'gif' = 'png',
  width = 24,
  height = 16,
): Promise<Uint8Array> {
  const pixels = Buffer.alloc(3 * width * height);
  const [left, top] = [(5 * number) % (width - 4), (3 * number) % (height - 4)];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isInside = x >= left && x < left + 4 && y >= top && y < top + 4;
      const at = 3 * (y * width + x);
      pixels[at] = isInside ? 255 : (x * 9 + number * 31) % 200;
      pixels[at + 1] = isInside ? 255 : (y * 13 + number * 17) % 200;
      pixels[at + 2] = isInside ? 0 : (number * 7) % 200;
    }
  }
  return await sharp(pixels, { raw: { width, height, channels: 3 } }).toFormat(format).toBuffer();
}
