import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { grpo } from './algorithms/grpo.ts';
import { pyvisionRl } from './algorithms/pyvision-rl.ts';
import { randomStep, withGroupAdvantages } from './contract-step.ts';
import { explainStep, explanationRow } from './explain.ts';
import { algorithms } from './registry.ts';
import { numbers, smallStep } from './step.fixture.ts';

const oldLogprobs = new Float64Array(8).fill(-2);
const step = smallStep({
  oldLogprobs,
  lossMask: Float64Array.of(1, 1, 1, 1, 1, 1, 0, 1),
  sequenceAdvantages: Float64Array.of(1, -1, 0, -1),
});
const logprobs = oldLogprobs.map(
  (value, t) => value + Math.log([1.5, 0.5, 1.5, 0.5, 1, 1, 7, 5][t] ?? 1),
);

describe('explainStep', () => {
  it('tells of every token its ratio, the clip that acted, its weight and why it has none', () => {
    const explanation = explainStep(pyvisionRl, step, { logprobs });
    const rows = Array.from({ length: 8 }, (_, t) => explanationRow(explanation, t));
    expect(rows.map(({ clip }) => clip)).toEqual([
      'high',
      'none',
      'none',
      'low',
      'none',
      'none',
      'none',
      'dual',
    ]);
    expect(rows.map(({ cause }) => cause)).toEqual([
      'trained',
      'trained',
      'trained',
      'trained',
      'advantage 0',
      'advantage 0',
      'not the policy’s token',
      'trained',
    ]);
    expect(rows.map(({ sequence }) => sequence)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(numbers(rows.map(({ ratio }) => ratio))).toEqual([
      1.5,
      0.5,
      1.5,
      0.5,
      1,
      1,
      Number.NaN,
      5,
    ]);
    expect(numbers(rows.map(({ weight }) => weight))).toEqual(
      numbers([1, 1, 1, 1, 1, 1, 0, 1].map((mask) => mask / 7)),
    );
    expect(numbers(rows.map(({ gradLogprob }) => gradLogprob))).toEqual(
      numbers([0, -0.5 / 7, 1.5 / 7, 0, 0, 0, 0, 0]),
    );
  });

  it('tells rejected, weightless and low-entropy tokens apart', () => {
    const rolloutLogprobs = oldLogprobs.map((value, t) => value + (t === 0 ? 3 : t === 1 ? 1 : 0));
    const scored = { ...step, rolloutLogprobs };
    const causes = (changes: Parameters<typeof grpo.with>[0]): string[] => {
      const explanation = explainStep(grpo.with(changes), scored, {
        logprobs,
        entropy: Float64Array.of(1, 1, 0.1, 1, 1, 1, 0, 1),
      });
      return [0, 1, 2, 3].map((t) => explanationRow(explanation, t).cause);
    };
    expect(causes({ rejection: 'token-k1', rejectionHigh: 10 })).toEqual([
      'rejected',
      'trained',
      'trained',
      'trained',
    ]);
    expect(causes({ correction: 'mask', correctionLow: 0.5 })).toEqual([
      'weight 0',
      'weight 0',
      'trained',
      'trained',
    ]);
    expect(causes({ topEntropyShare: 0.8 })).toEqual([
      'trained',
      'trained',
      'low entropy',
      'trained',
    ]);
  });

  it.each(algorithms.entries())('accounts for the whole loss gradient: %s', (_, algorithm) => {
    const full = withGroupAdvantages(algorithm, randomStep(3));
    const { gradLogprobs, causes } = explainStep(algorithm, full, {
      logprobs: full.logprobs,
      entropy: full.entropy,
      values: full.currentValues,
    });
    gradLogprobs.forEach((grad, t) => {
      // 0 is `trained`; without a KL term a token with a cause has no gradient.
      if (causes[t] !== 0 && algorithm.settings.klCoefficient === 0) expect(grad).toBe(0);
    });
    expect(gradLogprobs.some((grad) => grad !== 0)).toBe(true);
  });

  it('names what is missing', () => {
    expect(() => explainStep(grpo, smallStep(), { logprobs })).toThrow(ConfigError);
    const values = algorithms.get('ppo');
    expect(() => explainStep(values, step, { logprobs })).toThrow(/needs values/);
  });
});
