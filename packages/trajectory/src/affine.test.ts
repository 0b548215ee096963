import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AffineMap,
  applyAffine,
  composeAffine,
  invertAffine,
  isInvertible,
  readAffineMap,
} from './affine.ts';

const entry = fc.double({ min: -4, max: 4, noNaN: true });
const shift = fc.double({ min: -500, max: 500, noNaN: true });
const affine = fc
  .tuple(entry, entry, shift, entry, entry, shift)
  .filter(([a, b, , d, e]) => Math.abs(a * e - b * d) > 0.05) as fc.Arbitrary<AffineMap>;

it('composes the inner map first, and inverts', () => {
  fc.assert(
    fc.property(affine, affine, shift, shift, (outer, inner, x, y) => {
      const [u, v] = applyAffine(outer, ...applyAffine(inner, x, y));
      const [p, q] = applyAffine(composeAffine(outer, inner), x, y);
      expect(Math.hypot(u - p, v - q)).toBeLessThan(1e-6);
      const back = invertAffine(inner) as AffineMap;
      const [r, s] = applyAffine(back, ...applyAffine(inner, x, y));
      expect(Math.hypot(r - x, s - y)).toBeLessThan(1e-5);
    }),
  );
});

it('reads six numbers, and the four of records that knew no turns', () => {
  expect(readAffineMap([1, 2, 3, 4, 5, 6])).toEqual([1, 2, 3, 4, 5, 6]);
  expect(readAffineMap([0.5, 10, -1, 20])).toEqual([0.5, 0, 10, 0, -1, 20]);
  for (const wrong of [[], [1, 2, 3], [1, 2, 3, 4, 5], [1, 2, 3, Number.NaN], ['1', 2, 3, 4]]) {
    expect(readAffineMap(wrong)).toBeUndefined();
  }
});

it('tells maps that flatten the plane', () => {
  expect(isInvertible([0, -1, 40, 1, 0, 0])).toBe(true);
  expect(isInvertible([1, 2, 0, 2, 4, 0])).toBe(false);
  expect(isInvertible([1, 0, Number.POSITIVE_INFINITY, 0, 1, 0])).toBe(false);
});
