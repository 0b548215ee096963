import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { measureBesidePeaks } from './beside-peaks.ts';

/** Real pauses between turns; the clock moves by what a turn takes and by nothing else. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());
const take = (milliseconds: number): void => void vi.advanceTimersByTime(milliseconds);

describe('a case beside the peaks', () => {
  it('has the share of the peak of its own turn, however the machine changes', async () => {
    // Every other turn the machine has a quarter of its speed, of which a launch reaches half.
    let turn = 0;
    const speed = (): number => (turn % 2 === 0 ? 1 : 0.25);
    const { seconds, shares } = await measureBesidePeaks(
      () => take(25 / speed()),
      () => Promise.resolve(),
      () => {
        take(200);
        const flops = (2 * 1e6 * speed()) / 0.025;
        turn++;
        return { flops, bytes: 1e12 };
      },
      { flops: 1e6, bytes: 0 },
      { rounds: 8, seconds: 60 },
    );
    expect(seconds).toEqual({ median: 0.0625, p20: 0.025, p80: 0.1, count: 8 });
    expect(shares.count).toBe(8);
    for (const share of [shares.p20, shares.median, shares.p80]) expect(share).toBeCloseTo(0.5, 6);
  });
});
