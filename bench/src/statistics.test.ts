import { describe, expect, it } from 'vitest';
import {
  isTie,
  isUndecided,
  median,
  pairedRatio,
  quantile,
  ratioOf,
  summarize,
} from './statistics.ts';

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
    expect(ratio).toEqual({ median: 1.5, p20: 1.5, p80: 1.5, count: 5, isDecided: true });
  });
});

describe('a ratio', () => {
  const decided = (median: number, p20: number, p80: number): boolean =>
    ratioOf({ median, p20, p80, count: 9 }).isDecided;

  it('is decided where p20–p80 is narrower than its distance from 1, up and down alike', () => {
    expect(decided(1.5, 1.4, 1.6)).toBe(true);
    expect(decided(1 / 1.5, 1 / 1.6, 1 / 1.4)).toBe(true);
    expect(decided(1.05, 1, 1.1)).toBe(false);
    expect(decided(1.2, 1.05, 1.4)).toBe(false);
    expect(decided(1 / 1.2, 1 / 1.4, 1 / 1.05)).toBe(false);
  });

  it('of one measurement, or of none, claims nothing beyond it', () => {
    expect(pairedRatio([3], [1]).isDecided).toBe(true);
    expect(pairedRatio([], []).isDecided).toBe(false);
  });

  it('of two samples is undecided where either is wider than their difference', () => {
    const sample = (middle: number, width: number) => ({
      ...{ median: middle, p20: middle / width, p80: middle * width, count: 9 },
    });
    expect(isUndecided(sample(1, 1.02), sample(2, 1.02))).toBe(false);
    expect(isUndecided(sample(1, 1.02), sample(1.5, 1.4))).toBe(true);
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
