/** Limits per minute on a clock that does not tick by itself. */
import { describe, expect, it } from 'vitest';
import { type Clock, RateLimiter, type RateLimits } from './rate-limiter.ts';

function limited(limits: RateLimits) {
  let now = 0;
  const clock: Clock = {
    now: () => now,
    async wait(ms) {
      now += ms;
    },
  };
  const limiter = new RateLimiter(limits, clock);
  const times: number[] = [];
  const take = async (tokens: number): Promise<void> => {
    await limiter.take(tokens);
    times.push(now);
  };
  return { limiter, take, times, clock };
}

describe('a rate limiter', () => {
  it('lets a minute’s requests through, and then one in each share of a minute', async () => {
    const { take, times } = limited({ requestsPerMinute: 3 });
    for (let i = 0; i < 6; i++) await take(1);
    expect(times).toEqual([0, 0, 0, 20_000, 40_000, 60_000]);
  });

  it('never lets more tokens through in a minute than it may, in any order of sizes', async () => {
    const { take, times } = limited({ tokensPerMinute: 1000 });
    const sizes = Array.from({ length: 60 }, (_, i) => 50 + ((i * 7919) % 900));
    for (const size of sizes) await take(size);
    for (const start of times) {
      const inMinute = sizes.filter((_, i) => {
        const at = times[i] ?? 0;
        return at >= start && at < start + 60_000;
      });
      // A full bucket and what flows in during the minute: twice the limit is the bound of a bucket.
      expect(inMinute.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2000);
    }
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(times.at(-1)).toBeGreaterThanOrEqual(((total - 1000 - 950) / 1000) * 60_000);
  });

  it('gives back what a request did not use, and lets one beyond the limit through alone', async () => {
    const { limiter, take, times } = limited({ tokensPerMinute: 100 });
    await take(100);
    limiter.settle(100, 10);
    await take(90);
    expect(times).toEqual([0, 0]);
    await take(5000);
    expect(times[2]).toBe(60_000);
  });

  it('waits as long as the server asks, and hears a cancellation', async () => {
    const { limiter, take, times } = limited({});
    limiter.holdFor(1500);
    await take(1);
    expect(times).toEqual([1500]);
    const controller = new AbortController();
    controller.abort(new Error('stop'));
    await expect(limiter.take(1, controller.signal)).rejects.toThrow('stop');
    await take(1);
  });
});
