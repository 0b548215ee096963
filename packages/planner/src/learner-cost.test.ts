import { describe, expect, it } from 'vitest';
import { decodeSpeed } from './decode-table.ts';
import { learnSeconds } from './learner-cost.ts';

const costs = {
  gpus: 8,
  secondsPerToken: 1e-5,
  scoreSecondsPerToken: 0,
  secondsPerStep: 3,
  microBatchTokens: 16_384,
  efficiencyPerDoubling: 0.9,
  parameters: 8e9,
  bytesPerParameter: 2,
  gatherBytesPerSecond: 1e11,
  overlap: 1,
};

describe('seconds of a learning step', () => {
  it('are those that were measured, on as many GPUs', () => {
    expect(learnSeconds(costs, 1e6, 8).total).toBeCloseTo(10 + 3, 9);
  });

  it('shrink with GPUs by the efficiency of each doubling', () => {
    expect(learnSeconds(costs, 1e6, 32).compute).toBeCloseTo(10 / 4 / 0.9 ** 2, 9);
    expect(learnSeconds(costs, 1e6, 4).compute).toBeCloseTo(20, 9);
  });

  it('hold the moving of weights that computing does not hide', () => {
    // One pass on 256 GPUs and 8 on 8, which computing hides: 3 · 16e9 · 255/256 bytes at 4e10 a second.
    const slow = { ...costs, gatherBytesPerSecond: 4e10 };
    const { compute, exposed } = learnSeconds(slow, 1e6, 256);
    expect(compute).toBeCloseTo(10 / 32 / 0.9 ** 5, 9);
    expect(exposed).toBeCloseTo((3 * 16 * (255 / 256)) / 40 - compute, 9);
    // Nothing hidden: 8 passes on 8 GPUs move more than one on 256, and that was measured with them.
    expect(learnSeconds({ ...slow, overlap: 0 }, 1e6, 256).exposed).toBe(0);
  });

  it('are none for nothing', () => {
    expect(learnSeconds(costs, 0, 8).total).toBe(0);
  });
});

describe('speed of decoding', () => {
  const speed = decodeSpeed([
    [1, 50],
    [16, 400],
    [64, 800],
  ]);

  it('goes through the points of the table', () => {
    for (const [n, rate] of [
      [1, 50],
      [16, 400],
      [64, 800],
    ] as const) {
      expect(speed(n)).toBeCloseTo(rate, 9);
    }
  });

  it('is linear between them in seconds of a pass', () => {
    // Passes of 16 and 64 take 0.04 and 0.08 s, so one of 40 takes 0.06.
    expect(speed(40)).toBeCloseTo(40 / 0.06, 9);
  });

  it('grows above the last by the slope of the last two, never past it', () => {
    expect(speed(112)).toBeCloseTo(112 / 0.12, 9);
    expect(speed(1e9)).toBeLessThan(48 / 0.04 + 1);
    expect(decodeSpeed([[4, 100]])(400)).toBeCloseTo(100, 9);
  });

  it('takes as long for fewer rows than were measured as for those', () => {
    expect(decodeSpeed([[4, 100]])(1)).toBeCloseTo(25, 9);
  });
});
