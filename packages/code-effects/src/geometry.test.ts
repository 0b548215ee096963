import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Affine,
  applyAffine,
  areaOf,
  type Box,
  composeAffine,
  fromQuarterTurn,
  intersectionOverUnion,
  invertAffine,
  mapBox,
} from './geometry.ts';

const side = fc.integer({ min: -50, max: 700 });
const box: fc.Arbitrary<Box> = fc
  .tuple(side, side, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }))
  .map(([left, top, width, height]) => [left, top, left + width, top + height]);

describe('geometry', () => {
  const entry = fc.double({ min: -4, max: 4, noNaN: true });
  const shift = fc.double({ min: -500, max: 500, noNaN: true });
  const affine = fc
    .tuple(entry, entry, shift, entry, entry, shift)
    .filter(([a, b, , d, e]) => Math.abs(a * e - b * d) > 0.05) as fc.Arbitrary<Affine>;

  it('composes and inverts maps', () => {
    fc.assert(
      fc.property(affine, affine, shift, shift, (outer, inner, x, y) => {
        const [u, v] = applyAffine(outer, ...applyAffine(inner, x, y));
        const [p, q] = applyAffine(composeAffine(outer, inner), x, y);
        expect(Math.hypot(u - p, v - q)).toBeLessThan(1e-6);
        const back = invertAffine(inner);
        const [r, s] = applyAffine(back as Affine, ...applyAffine(inner, x, y));
        expect(Math.hypot(r - x, s - y)).toBeLessThan(1e-5);
      }),
    );
  });

  it('has an IoU that is symmetric, 1 for itself, and the same after a move', () => {
    fc.assert(
      fc.property(box, box, side, side, (a, b, x, y) => {
        const iou = intersectionOverUnion(a, b);
        expect(iou).toBeGreaterThanOrEqual(0);
        expect(iou).toBeLessThanOrEqual(1);
        expect(intersectionOverUnion(b, a)).toBe(iou);
        expect(intersectionOverUnion(a, a)).toBe(1);
        const move: Affine = [1, 0, x, 0, 1, y];
        expect(intersectionOverUnion(mapBox(move, a), mapBox(move, b))).toBeCloseTo(iou, 12);
        expect(areaOf(mapBox(move, a))).toBe(areaOf(a));
      }),
    );
  });
});

describe('boxes', () => {
  it('overlap by a seventh where a quarter of each is shared', () => {
    expect(intersectionOverUnion([0, 0, 10, 10], [5, 5, 15, 15])).toBeCloseTo(1 / 7, 14);
  });

  it('are where a quarter turn counter-clockwise takes them', () => {
    const forward = invertAffine(fromQuarterTurn(100));
    expect(forward && mapBox(forward, [10, 5, 30, 15])).toEqual([5, 70, 15, 90]);
    // The corner (W, 0) becomes the origin.
    expect(forward && mapBox(forward, [100, 0, 100, 0])).toEqual([0, 0, 0, 0]);
  });
});
