import { createHash } from 'node:crypto';
import { DataError } from '@saccade/core';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawing } from './drawing.fixture.ts';
import { patchesOf, prepareImage, qwenImageProcessor, smartResize } from './image-processor.ts';
import { DEFAULT_RESAMPLING } from './images/pixel-values.ts';
import { resize } from './resample/resize.ts';

describe('resize', () => {
  // Pillow 12.3: Image.resize(…, BICUBIC) of the drawing, SHA-256 of the bytes.
  it.each([
    {
      size: [37, 23, 28, 56],
      sha256: 'a9bafe04d62a11712a1ced471180443f4d9c5983b826fa161fb59e62dfab0629',
      first: [0, 101, 202, 8, 109, 210, 17, 118, 220, 26, 127, 251],
    },
    {
      size: [200, 131, 56, 28],
      sha256: '22943562fd1103492ce5d0649304bc8b7bdeb4cacdb1767ae2b1dc09ff668dca',
      first: [52, 152, 140, 113, 151, 105, 133, 127, 119, 100, 140, 128],
    },
    {
      size: [64, 64, 84, 84],
      sha256: 'd18dce8367073e68c7a0eda0a19a642a07226ea1a6d72425f74767176b013675',
      first: [0, 100, 201, 3, 104, 205, 9, 110, 211, 14, 115, 216],
    },
    {
      size: [31, 90, 28, 90],
      sha256: '6829988ee2902250da0cc84deea2b35658cf5e20e7c7e9f846b422f411f9442d',
      first: [0, 101, 202, 8, 109, 210, 16, 117, 218, 24, 125, 226],
    },
    {
      size: [5, 7, 28, 28],
      sha256: '33142c2ac19b73aec87188c14dbec8ad6b814028241e3123e03ad58ffe7f509d',
      first: [0, 99, 200, 0, 99, 200, 0, 100, 201, 0, 101, 202],
    },
    {
      size: [300, 40, 84, 40],
      sha256: '32d17cda489f5a569cc03a64610be801bff96c4331550c81669b7c001e44f562',
      first: [10, 111, 212, 28, 140, 235, 117, 95, 126, 210, 42, 149],
    },
  ])('gives the bytes Pillow gives: $size', ({ size, sha256, first }) => {
    const [width, height, newWidth, newHeight] = size as [number, number, number, number];
    const { pixels } = resize(drawing(width, height), newWidth, newHeight, DEFAULT_RESAMPLING);
    expect([...pixels.subarray(0, 12)]).toEqual(first);
    expect(createHash('sha256').update(pixels).digest('hex')).toBe(sha256);
  });
});

describe('smartResize', () => {
  // transformers 5.18, smart_resize: height, width → height, width under minimum and maximum area.
  it.each([
    [1000, 600, 1008, 588, 3136, 1003520],
    [20, 20, 56, 56, 3136, 1003520],
    [56, 30, 56, 28, 784, 50176],
    [3000, 2000, 532, 364, 3136, 200704],
    [14, 14, 28, 28, 784, 50176],
    [42, 70, 56, 56, 784, 1000000],
    [98, 126, 112, 112, 784, 1000000],
    [1, 200, 28, 420, 784, 1000000],
  ] as const)(
    'takes %i×%i to %i×%i',
    (height, width, newHeight, newWidth, minPixels, maxPixels) => {
      const size = smartResize(height, width, 28, minPixels, maxPixels);
      expect(size).toEqual({ height: newHeight, width: newWidth });
    },
  );

  it('refuses an image 200 times as long as wide', () => {
    expect(() => smartResize(1, 201, 28, 784, 50176)).toThrow(DataError);
  });
});

describe('patches of an image', () => {
  // transformers 5.18, Qwen2VLImageProcessorPil on the drawing, sizes 784 to 50176 pixels.
  it.each([
    {
      size: [300, 210],
      grid: [1, 12, 18],
      indices: [0, 1, 195, 196, 392, 588, 1175, 1176, 5000, 127025, 254015],
      values: [
        -1.7484672, -1.6170814, 0.2223204, -1.7484672, -0.1912892, -0.1912892, 0.6954504, 1.3026038,
        -1.1791286, -0.6681836, -0.5985757,
      ],
      sum: 47755.5525,
      sumOfSquares: 162314.397,
    },
    {
      size: [60, 100],
      grid: [1, 8, 4],
      indices: [0, 1, 195, 196, 392, 588, 1175, 1176, 5000, 18833, 37631],
      values: [
        -1.7922626, -1.6754751, -0.3470183, -1.7922626, -0.2363125, -0.2363125, -1.0251776,
        1.5507771, 1.0544306, 0.8500527, 0.9798517,
      ],
      sum: 6825.329,
      sumOfSquares: 30888.506,
    },
  ])('are the pixel values transformers gives: $size', ({ size, grid, ...golden }) => {
    const [width, height] = size as [number, number];
    const image = patchesOf(drawing(width, height).pixels, width, height, {
      ...qwenImageProcessor,
      minPixels: 784,
      maxPixels: 50_176,
    });
    expect([1, image.gridHeight, image.gridWidth]).toEqual(grid);
    expect(image.tokenCount).toBe((image.gridHeight * image.gridWidth) / 4);
    golden.indices.forEach((index, i) => {
      expect(image.patches[index]).toBeCloseTo(golden.values[i] as number, 5);
    });
    const sum = image.patches.reduce((total, v) => total + v, 0);
    const squares = image.patches.reduce((total, v) => total + v * v, 0);
    expect(Math.abs(sum - golden.sum)).toBeLessThan(0.05);
    expect(Math.abs(squares - golden.sumOfSquares)).toBeLessThan(0.05);
  });
});

describe('prepareImage', () => {
  const small = { ...qwenImageProcessor, minPixels: 784 };
  const raw = (pixels: ArrayLike<number>, channels: 1 | 2 | 3 | 4) =>
    sharp(Buffer.from(Uint8Array.from(pixels)), { raw: { width: 56, height: 28, channels } });

  it('reads a PNG to the very pixels that were written', async () => {
    const { pixels } = drawing(56, 28);
    const prepared = await prepareImage(await raw(pixels, 3).png().toBuffer(), small);
    expect(prepared).toEqual(patchesOf(pixels, 56, 28, small));
    expect(prepared).toMatchObject({ width: 56, height: 28, tokenCount: 2 });
  });

  it('reads a large PNG to the very pixels that were written', async () => {
    const { pixels } = drawing(280, 140);
    const png = await sharp(pixels, { raw: { width: 280, height: 140, channels: 3 } })
      .png()
      .toBuffer();
    expect(await prepareImage(png, small)).toEqual(patchesOf(pixels, 280, 140, small));
  });

  it('takes 16 bits a channel, a palette and an interlaced image to the same pixels', async () => {
    const pixels = drawing(56, 28).pixels.map((value) => value & 0xc0);
    const expected = patchesOf(pixels, 56, 28, small);
    const image = () => raw(pixels, 3);
    const deep = await image().toColorspace('rgb16').png().toBuffer();
    const indexed = await image().png({ palette: true, dither: 0, effort: 10 }).toBuffer();
    const interlaced = await image().png({ progressive: true }).toBuffer();
    expect(deep[24]).toBe(16);
    expect(indexed[25]).toBe(3);
    expect(interlaced[28]).toBe(1);
    for (const png of [deep, indexed, interlaced]) {
      expect(await prepareImage(png, small)).toEqual(expected);
    }
  });

  it('says that a PNG whose bytes were changed or cut off is not an image', async () => {
    const png = await raw(drawing(56, 28).pixels, 3).png().toBuffer();
    const changed = Uint8Array.from(png);
    changed[60] = (changed[60] as number) ^ 0xff;
    for (const bytes of [changed, png.subarray(0, png.length / 2)]) {
      await expect(prepareImage(bytes, small)).rejects.toThrow('An image could not be decoded');
    }
  });

  it('takes gray as three equal channels and puts transparency on white', async () => {
    const levels = Uint8Array.from({ length: 56 * 28 }, (_, i) => i % 256);
    const three = Uint8Array.from(
      { length: levels.length * 3 },
      (_, i) => levels[Math.floor(i / 3)] as number,
    );
    const gray = await raw(levels, 1).toColorspace('b-w').png().toBuffer();
    expect(await prepareImage(gray, small)).toEqual(patchesOf(three, 56, 28, small));
    const clear = await raw(new Uint8Array(56 * 28 * 4), 4)
      .png()
      .toBuffer();
    const white = new Uint8Array(56 * 28 * 3).fill(255);
    expect(await prepareImage(clear, small)).toEqual(patchesOf(white, 56, 28, small));
  });

  it('says that bytes are not an image', async () => {
    await expect(prepareImage(new TextEncoder().encode('not an image'), small)).rejects.toThrow(
      'An image could not be decoded',
    );
  });
});

describe('an image with too many pixels', () => {
  const image = () =>
    sharp({ create: { width: 200, height: 100, channels: 3, background: '#123' } });

  it.each(['png', 'jpeg', 'webp', 'gif', 'tiff', 'avif'] as const)(
    'is refused by the header of a %s, and taken at the limit',
    async (format) => {
      const encoded = await image()[format]().toBuffer();
      const limited = (maxSourcePixels: number) =>
        prepareImage(encoded, { ...qwenImageProcessor, maxSourcePixels });
      await expect(limited(20_000)).resolves.toHaveProperty('tokenCount');
      const refused = limited(19_999);
      await expect(refused).rejects.toThrow(DataError);
      await expect(refused).rejects.toThrow(
        'An image of 200×100 has 20000 pixels; at most 19999 are decoded. Make it smaller, or ' +
          'raise maxSourcePixels.',
      );
    },
  );

  it('is refused by default, without the memory that decoding would take', async () => {
    const create = { width: 16_000, height: 16_000, channels: 3, background: '#000' } as const;
    const png = await sharp({ create }).grayscale().png().toBuffer();
    const before = process.memoryUsage().rss;
    await expect(prepareImage(png, qwenImageProcessor)).rejects.toThrow(
      /An image of 16000×16000 has 256000000 pixels; at most 67108864 are decoded/,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 2 ** 20);
  }, 180_000);
});
