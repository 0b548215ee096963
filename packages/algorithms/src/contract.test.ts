import { describe, expect, it } from 'vitest';
import type { Algorithm, AlgorithmResult, TokenBatch } from './algorithm.ts';
import { ppo } from './algorithms/ppo.ts';
import { pyvisionRl } from './algorithms/pyvision-rl.ts';
import { algorithmContract } from './contract.ts';
import { algorithms } from './registry.ts';

describe.each(algorithms.entries())('%s', (_, algorithm) => {
  it.each(algorithmContract)('$name', ({ check }) => check(algorithm));
});

describe('the contract', () => {
  /** An algorithm with one thing broken, in all its variants. */
  const brokenBy = (
    change: (from: Algorithm) => Partial<Algorithm>,
    of = pyvisionRl,
  ): Algorithm => {
    const make = (from: Algorithm): Algorithm => ({
      ...from,
      ...change(from),
      with: (changes) => make(from.with(changes)),
      profile: (name) => make(from.profile(name)),
    });
    return make(of);
  };
  const brokenLoss = (
    change: (batch: TokenBatch, result: AlgorithmResult) => Partial<AlgorithmResult>,
  ): Algorithm =>
    brokenBy((from) => ({
      loss: (batch, counts) => {
        const result = from.loss(batch, counts);
        return { ...result, ...change(batch, result) } as typeof result;
      },
    }));
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

  it('passes what is not broken', () => {
    expect(failing(brokenBy(() => ({})))).toEqual([]);
  });

  it('catches a gradient that is a millionth too large', () => {
    const wrong = brokenLoss((_, { gradLogprobs }) => ({
      gradLogprobs: gradLogprobs.map((g) => g * (1 + 1e-6)),
    }));
    expect(failing(wrong)).toEqual(['gives gradients equal to central differences in float64']);
  });

  it('catches an entropy bonus without its gradient', () => {
    const wrong = brokenLoss((_, { gradEntropy }) =>
      gradEntropy ? { gradEntropy: gradEntropy.map(() => 0) } : {},
    );
    expect(failing(wrong)).toContain('gives gradients equal to central differences in float64');
  });

  it('catches a loss normalized by its own micro-batch', () => {
    const wrong = brokenLoss(({ lossMask }, { loss }) => ({ loss: loss / lossMask.length }));
    expect(failing(wrong)).toContain('does not change when a step is split into micro-batches');
  });

  it('catches a metric that is a mean of means', () => {
    const wrong = brokenLoss(({ lossMask }, { metrics }) => ({
      metrics: { ...metrics, entropy: (metrics.entropy ?? 0) / lossMask.length },
    }));
    expect(failing(wrong)).toEqual(['does not change when a step is split into micro-batches']);
  });

  it('catches masked tokens that are read', () => {
    const wrong = brokenLoss(({ logprobs }, { loss }) => ({
      loss: loss + 0 * Array.from(logprobs).reduce((a, b) => a + b, 0),
    }));
    expect(failing(wrong)).toEqual([
      'gives masked tokens no loss and no gradient, whatever they hold',
    ]);
  });

  it('catches masked values that leak into a baseline', () => {
    const wrong = brokenBy(
      (from) => ({
        tokenAdvantages: (step) => {
          const { advantages, returns } = from.tokenAdvantages(step);
          const leak = 0 * Array.from(step.values ?? []).reduce((a, b) => a + b, 0);
          return { advantages: advantages.map((a) => a + leak), ...(returns && { returns }) };
        },
      }),
      ppo,
    );
    expect(failing(wrong)).toEqual([
      'gives masked tokens no loss and no gradient, whatever they hold',
    ]);
  });

  it('catches advantages that depend on the order of sequences', () => {
    const wrong = brokenBy((from) => ({
      tokenAdvantages: (step) => {
        const { advantages } = from.tokenAdvantages(step);
        return { advantages: advantages.map((a, t) => a * (1 + t / 100)) };
      },
    }));
    expect(failing(wrong)).toContain('permutes its result as its sequences are permuted');
  });

  it('catches an input that is written to', () => {
    const wrong = brokenBy((from) => ({
      tokenAdvantages: (step) => {
        step.rewards[0] = (step.rewards[0] ?? 0) + 1;
        return from.tokenAdvantages(step);
      },
    }));
    expect(failing(wrong)).toContain('is a pure function of its inputs');
  });

  it('catches a sign that is turned round, and a baseline that is not', () => {
    const sign = 'favors the better trajectory of a group, and none of a uniform step';
    const turned = brokenBy((from) => ({
      groupAdvantages: (group) => from.groupAdvantages(group).map((a) => -a),
    }));
    expect(failing(turned)).toEqual([sign]);
    const raised = brokenBy((from) => ({
      groupAdvantages: (group) => from.groupAdvantages(group).map((a) => a + 0.1),
    }));
    expect(failing(raised)).toEqual([sign]);
  });

  it('catches needs that are not said, or said and not there', () => {
    const name = 'needs what it says, and names what is missing';
    expect(failing(brokenBy(() => ({ needs: [] }), ppo))).toContain(name);
    expect(failing(brokenBy(() => ({ needs: ['values'] })))).toContain(name);
  });

  it('catches rewards of NaN that are taken', () => {
    const wrong = brokenBy(() => ({
      groupAdvantages: ({ rewards }) => Float64Array.from(rewards),
    }));
    expect(failing(wrong)).toContain(
      'refuses rewards that are not numbers, and settings it does not have',
    );
  });
});
