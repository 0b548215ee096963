import { describe, expect, it } from 'vitest';
import { learningRateAt } from './learning-rate.ts';

const schedule = { peak: 2, total: 11, warmupFraction: 0, finalFraction: 0.1 };
const rates = (options: Partial<typeof schedule>) =>
  Array.from({ length: options.total ?? 11 }, (_, update) =>
    learningRateAt(update, { ...schedule, ...options }),
  );

describe('the learning rate', () => {
  it('falls from the peak to its share over half a cosine', () => {
    const values = rates({});
    expect(values[0]).toBe(2);
    expect(values[5]).toBeCloseTo((2 + 0.2) / 2, 12);
    expect(values[10]).toBeCloseTo(0.2, 12);
    for (let i = 1; i < 11; i++) expect(values[i]).toBeLessThan(values[i - 1] ?? 0);
  });

  it('rises linearly through the warm-up and never starts at zero', () => {
    const values = rates({ total: 20, warmupFraction: 0.2 });
    expect(values.slice(0, 4)).toEqual([0.5, 1, 1.5, 2]);
    expect(values[4]).toBe(2);
    expect(values[19]).toBeCloseTo(0.2, 12);
  });

  it('is constant where the final share is 1, and defined for a single update', () => {
    expect(new Set(rates({ finalFraction: 1 }))).toEqual(new Set([2]));
    expect(rates({ total: 1 })).toEqual([2]);
  });
});
