import { describe, expect, it } from 'vitest';
import { formatDuration, formatNumber, formatPercent, roundTicks, smooth } from './numbers.ts';

describe('roundTicks', () => {
  it.each([
    [0, 1, [0, 0.5, 1]],
    [0, 60, [0, 20, 40, 60]],
    [-0.12, 0.07, [-0.15, -0.1, -0.05, 0, 0.05, 0.1]],
    [3, 3, [3, 3.5, 4]],
  ])('covers %d to %d with round numbers', (low, high, ticks) => {
    expect(roundTicks(low, high, 4)).toEqual(ticks);
  });
});

describe('smooth', () => {
  it('takes as many neighbors before as after, fewer at the ends', () => {
    expect(smooth([0, 3, 6, 0], 1)).toEqual([0, 3, 3, 0]);
  });
});

describe('numbers', () => {
  it('are as short as they stay readable', () => {
    expect([0.12345, 1234.5, -2, Number.NaN].map(formatNumber)).toEqual([
      '0.123',
      '1235',
      '−2',
      '–',
    ]);
    expect(formatPercent(0.894)).toBe('89 %');
    expect([42.4, 425].map(formatDuration)).toEqual(['42 s', '7 min 5 s']);
  });
});
