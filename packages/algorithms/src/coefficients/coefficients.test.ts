import { describe, expect, it } from 'vitest';
import { adaptiveEntropy, adaptiveEntropyStart } from './adaptive-entropy.ts';
import { adaptiveKl } from './adaptive-kl.ts';

describe('adaptive coefficients', () => {
  it('of entropy follow TRL’s, step by step', () => {
    // TRL 1.13's GRPOTrainer, entropy_coef 0.004, delta 0.005, target 0.2, called with these
    // entropies; the second number is what its next step applies.
    const golden = [
      [0.1, 0.009, 0.009],
      [0.15, 0.014, 0.014],
      [0.5, 0.009, 0],
      [0.21, 0.004, 0],
      [0.3, 0, 0],
      [0.31, 0, 0],
      [0.1, 0.005, 0.005],
    ] as const;
    let state = adaptiveEntropyStart(0.004);
    expect(state.applied).toBe(0.004);
    for (const [entropy, coefficient, applied] of golden) {
      state = adaptiveEntropy(state, entropy);
      expect(state.coefficient).toBeCloseTo(coefficient, 14);
      expect(state.applied).toBeCloseTo(applied, 14);
    }
    expect(adaptiveEntropy({ coefficient: 1, applied: 1 }, 0).coefficient).toBe(1);
  });

  it('of KL rise above the target, fall below it, and are held', () => {
    // By hand: error clip(0.15/0.1 − 1) = 0.2; 0.2·500/10,000 = 1 %.
    expect(adaptiveKl(0.1, 0.15, 500)).toBeCloseTo(0.101, 14);
    expect(adaptiveKl(0.1, 9, 500)).toBeCloseTo(0.101, 14);
    expect(adaptiveKl(0.1, 0, 500)).toBeCloseTo(0.099, 14);
    expect(adaptiveKl(0.1, 0.105, 500)).toBeCloseTo(0.1 * 1.0025, 14);
  });
});
