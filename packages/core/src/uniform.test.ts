import { describe, expect, it } from 'vitest';
import { randomAt } from './rng.ts';
import { isUniform } from './uniform.ts';

describe('isUniform', () => {
  it.each([
    ['nothing', []],
    ['one value', [0.3]],
    ['equal values', [1.1, 1.1, 1.1]],
    ['a sum that rounds otherwise', [0.1 + 0.2, 0.3, 0.3, 0.3]],
    ['a difference that should be 0', [0.1 + 0.2 - 0.3, 0, 0]],
    ['large values an ulp apart', [1e9, 1e9 + 1e-7]],
  ])('holds for %s', (_, values) => {
    expect(isUniform(Float64Array.from(values))).toBe(true);
  });

  it.each([
    ['a small but real difference', [0.3, 0.3 + 1e-9]],
    ['small values', [1e-12, 2e-12]],
    ['a NaN', [0, Number.NaN]],
    ['infinities', [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ])('does not hold for %s', (_, values) => {
    expect(isUniform(Float64Array.from(values))).toBe(false);
  });

  it('allows float32 its own rounding', () => {
    const sum = Math.fround(Math.fround(0.1) + Math.fround(0.2));
    expect(isUniform(Float32Array.of(sum, 0.3))).toBe(true);
    expect(isUniform(Float32Array.of(0.3, 0.3001))).toBe(false);
  });

  it('holds for the same terms summed in any order, and for no sum with a term left out', () => {
    const random = randomAt(1, 'uniform');
    for (let round = 0; round < 200; round++) {
      const terms = Array.from({ length: 8 }, () => random.normal());
      const forth = terms.reduce((sum, term) => sum + term, 0);
      const back = terms.reduceRight((sum, term) => sum + term, 0);
      expect(isUniform([forth, back, forth])).toBe(true);
      expect(isUniform([forth, forth - (terms[0] ?? 0), forth])).toBe(false);
    }
  });
});
