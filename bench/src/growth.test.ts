import { describe, expect, it } from 'vitest';
import { growthExponent, logTicks } from './growth.ts';
import { describeGrowth, drawScaling } from './scaling-chart.ts';

describe('growthExponent', () => {
  const sizes = [1, 2, 4, 8];

  it('is the power of a power law, whatever its constant', () => {
    for (const power of [0, 1, 1.5, 2]) {
      const times = sizes.map((size) => 0.3 * size ** power);
      expect(growthExponent(sizes, times)).toBeCloseTo(power, 12);
    }
  });

  it('is pulled down by a fixed cost, and NaN of one size', () => {
    const times = sizes.map((size) => 5 + size);
    expect(growthExponent(sizes, times)).toBeLessThan(0.5);
    expect(growthExponent([4], [1])).toBeNaN();
  });
});

describe('logTicks', () => {
  it('gives 1, 2 and 5 in every decade, and fewer where they crowd', () => {
    expect(logTicks(0.9, 30, 8)).toEqual([1, 2, 5, 10, 20]);
    expect(logTicks(1e-6, 10, 9)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10]);
    expect(logTicks(2.1, 4.9, 8)).toEqual([]);
  });
});

describe('drawScaling', () => {
  const sample = (median: number) => ({ median, p20: median, p80: median, count: 5 });
  const sweeps = ['tokens', 'threads'].map((axis) => ({
    axis,
    title: `${axis} <grow>`,
    curves: [{ label: 'a', sizes: [1024, 2048], seconds: [sample(2), sample(1)], exponent: -1 }],
  }));

  it('labels sizes, growth and speed-ups, and escapes what it is told', () => {
    const svg = drawScaling(sweeps, 'R&D machine');
    for (const text of ['>1k<', '>2k<', 'a: ∝ n^-1.00', 'R&amp;D machine', 'tokens &lt;grow>']) {
      expect(svg).toContain(text);
    }
    expect(svg).not.toContain('NaN');
    expect(describeGrowth('threads', sweeps[1]?.curves[0] as never)).toBe('2.00× with 2048');
  });
});
