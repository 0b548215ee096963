import { describe, expect, it } from 'vitest';
import type { Algorithm, AlgorithmResult, TokenBatch } from './algorithm.ts';
import { pyvisionRl } from './algorithms/pyvision-rl.ts';
import { algorithmContract } from './contract.ts';
import { algorithms } from './registry.ts';

describe.each(algorithms.entries())('%s', (_, algorithm) => {
  it.each(algorithmContract)('$name', ({ check }) => check(algorithm));
});

describe('the contract', () => {
  /** pyvision-rl with one thing broken. */
  const broken = (
    change: (batch: TokenBatch, result: AlgorithmResult) => Partial<AlgorithmResult>,
  ): Algorithm => {
    const make = (from: Algorithm): Algorithm => ({
      ...from,
      with: (changes) => make(from.with(changes)),
      profile: (name) => make(from.profile(name)),
      loss: (batch, counts) => {
        const result = from.loss(batch, counts);
        return { ...result, ...change(batch, result) } as typeof result;
      },
    });
    return make(pyvisionRl);
  };
  const failing = (algorithm: Algorithm): string[] =>
    algorithmContract
      .filter(({ check }) => {
        try {
          check(algorithm);
          return false;
        } catch {
          return true;
        }
      })
      .map(({ name }) => name);

  it('catches a gradient that is a thousandth too large', () => {
    const wrong = broken((_, { gradLogprobs }) => ({
      gradLogprobs: gradLogprobs.map((g) => g * 1.001),
    }));
    expect(failing(wrong)).toContain('gives gradients equal to central differences in float64');
  });

  it('catches a loss normalised by its own micro-batch', () => {
    const wrong = broken(({ lossMask }, { loss }) => ({ loss: loss / lossMask.length }));
    expect(failing(wrong)).toContain('does not change when a step is split into micro-batches');
  });

  it('catches masked tokens that are read', () => {
    const wrong = broken(({ logprobs }, { loss }) => ({
      loss: loss + 0 * Array.from(logprobs).reduce((a, b) => a + b, 0),
    }));
    expect(failing(wrong)).toEqual([
      'gives masked tokens no loss and no gradient, whatever they hold',
    ]);
  });
});
