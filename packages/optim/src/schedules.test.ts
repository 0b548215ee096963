import { ConfigError, randomAt } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { schedules } from './registry.ts';
import { constant } from './schedules/constant.ts';
import { cosine } from './schedules/cosine.ts';
import { linear } from './schedules/linear.ts';
import { warmupStableDecay } from './schedules/warmup-stable-decay.ts';

const rates = (schedule: (update: number) => number, total: number) =>
  Array.from({ length: total }, (_, update) => schedule(update));

describe.each(schedules.entries())('%s', (_, unit) => {
  it('rises linearly through the warm-up, never starts at zero, and stays within the peak', () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = randomAt(seed, 'schedule');
      const [peak, total] = [random.uniform(), 1 + random.integer(300)];
      const warmupFraction = random.pick([0, 0.1, 0.5, 1, random.uniform()]);
      const values = rates(unit.create({ peak, total }, { warmupFraction }), total + 5);
      const warmup = Math.round(total * warmupFraction);
      for (let u = 0; u < warmup; u++) expect(values[u]).toBe((peak * (u + 1)) / warmup);
      values.slice(warmup).forEach((value, i, rest) => {
        expect(value).toBeLessThanOrEqual(rest[i - 1] ?? peak);
        expect(value).toBeGreaterThanOrEqual(0);
      });
    }
  });

  it('refuses shares outside of [0, 1]', () => {
    const create = () => unit.create({ peak: 1, total: 10 }, { warmupFraction: 1.5 });
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(/schedule\.warmupFraction/);
  });
});

describe('cosine', () => {
  it('has the bits that runs were made with', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = randomAt(seed, 'cosine');
      const [peak, total] = [random.uniform(), 1 + random.integer(500)];
      const [warmupFraction, finalFraction] = [
        random.pick([0, random.uniform()]),
        random.uniform(),
      ];
      const schedule = cosine.create({ peak, total }, { warmupFraction, finalFraction });
      const warmup = Math.round(total * warmupFraction);
      for (let update = 0; update < total + 3; update++) {
        const progress = Math.min(1, (update - warmup) / Math.max(1, total - 1 - warmup));
        const fall = 0.5 * (1 + Math.cos(Math.PI * progress));
        const expected =
          update < warmup
            ? (peak * (update + 1)) / warmup
            : peak * (finalFraction + (1 - finalFraction) * fall);
        expect(schedule(update)).toBe(expected);
      }
    }
  });

  it('is half way at half of the fall, and constant where the final share is 1', () => {
    const values = rates(cosine.create({ peak: 2, total: 11 }, { finalFraction: 0.1 }), 11);
    expect(values[0]).toBe(2);
    expect(values[5]).toBeCloseTo(1.1, 12);
    expect(values[10]).toBeCloseTo(0.2, 12);
    expect(new Set(rates(cosine.create({ peak: 2, total: 9 }, { finalFraction: 1 }), 9)).size).toBe(
      1,
    );
    expect(rates(cosine.create({ peak: 2, total: 1 }), 1)).toEqual([2]);
  });
});

it('constant stays at the peak', () => {
  expect(new Set(rates(constant.create({ peak: 3, total: 5 }), 9))).toEqual(new Set([3]));
});

it('linear falls along a line to its end and stays there', () => {
  const schedule = linear.create({ peak: 1, total: 11 }, { finalFraction: 0.5 });
  for (const [update, rate] of [
    [0, 1],
    [5, 0.75],
    [10, 0.5],
    [99, 0.5],
  ] as const) {
    expect(schedule(update)).toBeCloseTo(rate, 12);
  }
});

it('warmup-stable-decay stays, then falls over the last updates', () => {
  const options = { warmupFraction: 0.1, decayFraction: 0.2, finalFraction: 0.1 };
  const schedule = warmupStableDecay.create({ peak: 1, total: 100 }, options);
  for (const [update, rate] of [
    [0, 0.1],
    [9, 1],
    [79, 1],
    [80, 0.1 + 0.9 * (19 / 20)],
    [89, 0.1 + 0.9 * 0.5],
    [99, 0.1],
    [200, 0.1],
  ] as const) {
    expect(schedule(update)).toBeCloseTo(rate, 12);
  }
  expect(warmupStableDecay.create({ peak: 1, total: 10 }, { decayFraction: 0 })(9)).toBe(1);
});
