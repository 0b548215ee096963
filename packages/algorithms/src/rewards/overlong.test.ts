import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { overlongPenalty } from './overlong.ts';

describe('the overlong penalty', () => {
  const limits = { maxTokens: 20_480, bufferTokens: 4096 };

  it('is 0 up to the buffer, falls to −1 over it, and stays there', () => {
    // DAPO's own numbers: a cache of 4,096 tokens below 20,480.
    const penalty = overlongPenalty(limits);
    expect([100, 16_384, 18_432, 20_480, 40_000].map(penalty)).toEqual([0, 0, -0.5, -1, -1]);
    expect(Object.is(penalty(0), 0)).toBe(true);
  });

  it('goes on growing in verl’s convention, times a factor', () => {
    const penalty = overlongPenalty({ ...limits, isCapped: false, factor: 2 });
    expect([16_384, 18_432, 20_480, 24_576].map(penalty)).toEqual([0, -1, -2, -4]);
  });

  it('refuses a buffer that is no part of the limit', () => {
    expect(() => overlongPenalty({ maxTokens: 10, bufferTokens: 11 })).toThrow(ConfigError);
    expect(() => overlongPenalty({ maxTokens: 10, bufferTokens: 0 })).toThrow(/above 0/);
  });
});
