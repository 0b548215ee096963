import { createHash } from 'node:crypto';
import { DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { drawing } from '../drawing.fixture.ts';
import { type FilterName, filterOfNumber, numberOfFilter } from './filters.ts';
import { resize } from './resize.ts';

describe('resize', () => {
  // torchvision 0.28 on torch 2.13, `resize` of the drawing as bytes with antialias: the beginning
  // of the SHA-256 of the bytes.
  it.each([
    { size: [37, 23, 28, 56], filter: 'bicubic', sha256: '00ac0b758c3fa674' },
    { size: [37, 23, 28, 56], filter: 'lanczos', sha256: 'f64417f3c52b905c' },
    { size: [37, 23, 28, 56], filter: 'bilinear', sha256: '31888a9e36b67814' },
    { size: [200, 131, 56, 28], filter: 'bicubic', sha256: 'd003db7275d934be' },
    { size: [200, 131, 56, 28], filter: 'lanczos', sha256: 'f34efdf621a2447b' },
    { size: [200, 131, 56, 28], filter: 'bilinear', sha256: 'd9cac58710138ee4' },
    { size: [5, 7, 28, 28], filter: 'bicubic', sha256: '33142c2ac19b73ae' },
    { size: [5, 7, 28, 28], filter: 'lanczos', sha256: 'cada45c8753bb25a' },
    { size: [5, 7, 28, 28], filter: 'bilinear', sha256: 'b8a572c9b1feb652' },
    { size: [300, 40, 84, 40], filter: 'bicubic', sha256: 'b2d3f418fe477c22' },
    { size: [300, 40, 84, 40], filter: 'lanczos', sha256: '63c1238852693700' },
    { size: [300, 40, 84, 40], filter: 'bilinear', sha256: '24b5e22e860c87b1' },
  ])('gives the bytes of torchvision: $filter, $size', ({ size, filter, sha256 }) => {
    const [width, height, newWidth, newHeight] = size as [number, number, number, number];
    const { pixels } = resize(drawing(width, height), newWidth, newHeight, {
      filter: filter as FilterName,
      arithmetic: 'torchvision',
    });
    const digest = createHash('sha256').update(pixels).digest('hex');
    expect(digest.slice(0, sha256.length)).toBe(sha256);
  });

  // Pillow 12.3, `resize` of the drawing.
  it.each([
    { filter: 'bicubic', sha256: '64e96c2822277eb1' },
    { filter: 'lanczos', sha256: 'bca1ff5d0feab9c3' },
  ] as const)('gives the bytes of Pillow for a narrow strip: $filter', ({ filter, sha256 }) => {
    const { pixels } = resize(drawing(3, 590), 56, 448, { filter, arithmetic: 'pillow' });
    const digest = createHash('sha256').update(pixels).digest('hex');
    expect(digest.slice(0, sha256.length)).toBe(sha256);
  });

  it('gives bytes on torchvision and on Pillow that differ by at most 1', () => {
    const image = drawing(200, 131);
    for (const filter of ['bicubic', 'lanczos', 'bilinear'] as const) {
      const ours = resize(image, 61, 47, { filter, arithmetic: 'torchvision' }).pixels;
      const pillow = resize(image, 61, 47, { filter, arithmetic: 'pillow' }).pixels;
      const largest = Math.max(...ours.map((byte, i) => Math.abs(byte - (pillow[i] ?? 0))));
      expect(largest, filter).toBe(1);
    }
  });
});

describe('the number of a filter', () => {
  it('is that of Pillow, and others are refused by file and field', () => {
    for (const name of ['lanczos', 'bilinear', 'bicubic'] as const) {
      expect(filterOfNumber(numberOfFilter(name), 'a.json')).toBe(name);
    }
    for (const number of [0, 4, 1.5, '3', undefined]) {
      expect(() => filterOfNumber(number, 'a.json')).toThrow(DataError);
      expect(() => filterOfNumber(number, 'a.json')).toThrow('a.json: resample must be 1');
    }
  });
});
