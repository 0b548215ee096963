import { randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { driftOf, verdictOf } from './drift.ts';

const STEPS = 1000;
const series = (valueAt: (step: number) => number): number[] =>
  Array.from({ length: STEPS }, (_, step) => valueAt(step));
const verdict = (values: number[], allowed = 0): string => verdictOf(driftOf(values), allowed);

describe('driftOf', () => {
  it('finds the slope of a line, whatever garbage lies on it and goes', () => {
    const random = randomAt(1, 'garbage');
    const drift = driftOf(series((step) => 1e6 + 30 * step + random.integer(1e5)));
    expect(drift.perStep).toBeGreaterThan(25);
    expect(drift.perStep).toBeLessThan(35);
    expect(drift.warmUp).toBe(200);
    expect(driftOf(series((step) => 5 - 2 * step))).toMatchObject({
      perStep: -2,
      p20: -2,
      p80: -2,
    });
  });

  it('leaves the warm-up out', () => {
    expect(driftOf(series((step) => Math.min(step, 100)))).toMatchObject({
      perStep: 0,
      least: 100,
      most: 100,
    });
  });
});

describe('verdictOf', () => {
  it('tells what is constant, flat, growing and shrinking', () => {
    const random = randomAt(2, 'noise');
    expect(verdict(series(() => 7))).toBe('constant');
    expect(verdict(series(() => 1e8 + random.integer(1e7)))).toBe('flat');
    expect(verdict(series((step) => 100 + Math.floor(step / 50)))).toBe('grows');
    expect(verdict(series((step) => 1e8 + 2e4 * step + random.integer(1e6)))).toBe('grows');
    expect(verdict(series((step) => 1e8 - 2e4 * step + random.integer(1e6)))).toBe('shrinks');
  });

  it('lets grow slowly what may', () => {
    const values = series((step) => 1e8 + 3 * step);
    expect([verdict(values), verdict(values, 2), verdict(values, 3)]).toEqual([
      'grows',
      'grows',
      'flat',
    ]);
  });
});
