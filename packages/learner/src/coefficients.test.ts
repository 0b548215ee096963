import { algorithms } from '@saccade/algorithms';
import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { coefficientSettings } from './coefficient-settings.ts';
import {
  checkCoefficients,
  coefficientMetrics,
  nextCoefficients,
  startingCoefficients,
  withCoefficients,
} from './coefficients.ts';

const fixed = coefficientSettings.parse({});
const adaptive = coefficientSettings.parse({
  klControl: 'adaptive',
  klHorizon: 500,
  entropyControl: 'adaptive',
});
const grpo = algorithms.get('grpo').with({ klCoefficient: 0.1, entropyCoefficient: 0.004 });

describe('coefficients of a loss', () => {
  it('stay what they are set to where none is adaptive', () => {
    const start = startingCoefficients(grpo, fixed);
    expect(start).toEqual({});
    expect(withCoefficients(grpo, start)).toBe(grpo);
    expect(nextCoefficients(start, { kl: 9, entropy: 9, sequences: 5 }, fixed)).toEqual({});
    expect(coefficientMetrics(start)).toEqual({});
  });

  it('follow KL as verl’s controller and entropy as TRL’s, from the algorithm’s own', () => {
    const start = startingCoefficients(grpo, adaptive);
    expect(start).toEqual({ kl: 0.1, entropy: { coefficient: 0.004, applied: 0.004 } });
    // The rows of the golden values in the tests of adaptiveKl and adaptiveEntropy.
    const first = nextCoefficients(start, { kl: 0.15, entropy: 0.1, sequences: 25 }, adaptive);
    expect(first.kl).toBeCloseTo(0.1 * (1 + (0.2 * 25) / 500), 14);
    expect(first.entropy?.applied).toBeCloseTo(0.009, 14);
    const second = nextCoefficients(first, { kl: 0.1, entropy: 0.5, sequences: 25 }, adaptive);
    expect(second.kl).toBeCloseTo(first.kl ?? 0, 14);
    expect(second.entropy).toEqual({ coefficient: expect.closeTo(0.004, 14), applied: 0 });
    const { settings } = withCoefficients(grpo, second);
    expect(settings).toMatchObject({ klCoefficient: second.kl, entropyCoefficient: 0 });
    expect(coefficientMetrics(second)).toEqual({
      'coefficient/kl': second.kl,
      'coefficient/entropy': 0,
    });
  });

  it('stay where nothing was measured', () => {
    const start = startingCoefficients(grpo, adaptive);
    expect(nextCoefficients(start, { sequences: 25 }, adaptive)).toEqual(start);
  });

  it('are refused where KL would be multiplied with 0 for ever', () => {
    expect(() => checkCoefficients(grpo, adaptive)).not.toThrow();
    expect(() => checkCoefficients(algorithms.get('grpo'), fixed)).not.toThrow();
    const none = grpo.with({ klCoefficient: 0 });
    expect(() => checkCoefficients(none, adaptive)).toThrow(ConfigError);
    expect(() => checkCoefficients(none, adaptive)).toThrow(/starts from algorithm\.klCoefficient/);
  });
});
