import { describe, expect, it } from 'vitest';
import { isTie, median, pairedRatio, quantile, summarize } from './statistics.ts';

describe('quantile', () => {
  // NumPy 2: np.quantile([3, 1, 4, 1, 5, 9, 2, 6], …), its default method.
  it('agrees with NumPy', () => {
    const numbers = [3, 1, 4, 1, 5, 9, 2, 6];
    expect(quantile(numbers, 0.2)).toBeCloseTo(1.4, 12);
    expect(quantile(numbers, 0.5)).toBeCloseTo(3.5, 12);
    expect(quantile(numbers, 0.8)).toBeCloseTo(5.6, 12);
  });

  it('leaves the numbers in their order, and is NaN of none', () => {
    const numbers = [2, 1];
    expect(median(numbers)).toBe(1.5);
    expect(numbers).toEqual([2, 1]);
    expect(median([])).toBeNaN();
    expect(median([7])).toBe(7);
  });
});

describe('pairedRatio', () => {
  it('compares turns that belong together, whatever slows both', () => {
    const base = [1, 10, 2, 40, 3];
    const ratio = pairedRatio(
      base.map((time) => 1.5 * time),
      base,
    );
    expect(ratio).toEqual({ median: 1.5, p20: 1.5, p80: 1.5, count: 5 });
  });
});

describe('isTie', () => {
  const sample = (median: number, p20: number, p80: number) => ({ median, p20, p80, count: 9 });

  it('is one where a median lies inside the spread of the other', () => {
    expect(isTie(sample(10, 9, 11), sample(10.5, 10.4, 10.6))).toBe(true);
    expect(isTie(sample(10.5, 10.4, 10.6), sample(10, 9, 11))).toBe(true);
  });

  it('is none where both medians are outside', () => {
    expect(isTie(sample(10, 9, 11), sample(12, 11.5, 12.5))).toBe(false);
    expect(isTie(summarize([1, 1, 1]), summarize([2, 2, 2]))).toBe(false);
  });
});
