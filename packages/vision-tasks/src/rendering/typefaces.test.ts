import { describe, expect, it } from 'vitest';
import { typeface, typefacesOf } from './typefaces.ts';

describe('typeface', () => {
  it('sets every printable ASCII letter at any place as whole path data', () => {
    const letters = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
    for (const name of [...typefacesOf.train, ...typefacesOf.heldOut]) {
      const { outline, widthOf } = typeface(name);
      for (const size of [15, 16, 19.5]) {
        const data = outline(letters, -widthOf(letters, size) / 2, 0, size);
        expect(data).not.toMatch(/NaN|e-/);
        expect(data).toMatch(/^[MLQCZ\d. -]+$/);
      }
    }
  });

  it('is as wide as its letters together', () => {
    const { widthOf } = typeface('roboto');
    expect(widthOf('ab', 10)).toBeCloseTo(widthOf('a', 10) + widthOf('b', 10), 9);
    expect(widthOf('', 10)).toBe(0);
  });
});
