import { randomAt } from '@saccade/core';
import { prepareImage, qwenImageProcessor } from '@saccade/policy';
import { expect, it } from 'vitest';
import { invisibleInk } from './invisible-ink.ts';
import { encodePng } from './pixel-image.ts';

const SIZE = 56;

/** Gray levels of the image processor's half of an image of one gray level and ink. */
async function halved(ink: Float64Array): Promise<Float32Array> {
  const pixels = Uint8Array.from({ length: SIZE * SIZE * 3 }, (_, i) => {
    const level = Math.round(128 + (ink[Math.floor(i / 3)] ?? 0));
    expect(level, 'no level is cut off').toBe(Math.max(0, Math.min(255, level)));
    return level;
  });
  const png = encodePng({ width: SIZE, height: SIZE, pixels });
  const half = (SIZE / 2) ** 2;
  const config = { ...qwenImageProcessor, minPixels: half, maxPixels: half };
  const { patches } = await prepareImage(png, { ...config, mean: [0, 0, 0], std: [1, 1, 1] });
  return patches.map((value) => value * 255);
}

it('leaves the halved image as it is, whatever is drawn', async () => {
  const drawings = {
    hatching: (x: number, y: number) => ((x + y) % 2 === 0 ? 80 : -80),
    stripes: (x: number) => (x % 2 === 0 ? 80 : -80),
    noise: (x: number, y: number) => 80 * (2 * randomAt(1, 'ink', x, y).uniform() - 1),
  };
  for (const [name, levelAt] of Object.entries(drawings)) {
    const drawing = Float64Array.from({ length: SIZE * SIZE }, (_, i) => {
      const [x, y] = [i % SIZE, Math.floor(i / SIZE)];
      return Math.abs(x - 28) + Math.abs(y - 25) < 13 ? levelAt(x, y) : 0;
    });
    const ink = invisibleInk(drawing, SIZE);
    // Nothing of it is left but rounding, once in the image and twice on the way.
    for (const level of await halved(ink)) expect(Math.abs(level - 128), name).toBeLessThan(2);
    expect((await halved(drawing)).some((level) => Math.abs(level - 128) > 5)).toBe(true);
    const energy = (values: Float64Array) => values.reduce((sum, value) => sum + value ** 2, 0);
    expect(energy(ink) / energy(drawing), name).toBeGreaterThan(0.5);
    // A projection: what is invisible stays as it is.
    const again = invisibleInk(ink, SIZE);
    for (const [i, value] of again.entries()) expect(value).toBeCloseTo(ink[i] ?? 0, 9);
  }
});
