import { describe, expect, it } from 'vitest';
import { grpo } from '../algorithms/grpo.ts';
import type { KlEstimate } from '../choices.ts';
import { countGlobally } from '../counts.ts';
import { straightThrough } from '../straight-through.ts';
import { abs } from './abs.ts';
import { k1 } from './k1.ts';
import { k2 } from './k2.ts';
import { k3, k3Bounded } from './k3.ts';

const estimates: readonly [string, KlEstimate][] = [
  ['k1', k1],
  ['k2', k2],
  ['k3', k3],
  ['k3-bounded', k3Bounded],
  ['abs', abs],
];

describe('estimates of KL', () => {
  it.each(estimates)('%s has the derivative it says', (_, estimate) => {
    for (const [logprob, other] of [
      [-1, -1.7],
      [-2.3, -0.4],
      [-0.1, -0.1003],
    ] as const) {
      const rise = estimate(logprob + 1e-6, other).value - estimate(logprob - 1e-6, other).value;
      expect(estimate(logprob, other).grad).toBeCloseTo(rise / 2e-6, 8);
    }
  });

  it('k1 and k3 have the expectation KL, k2 has its gradient', () => {
    // Two distributions over three tokens; expectations over the first, in closed form.
    const p = [0.5, 0.3, 0.2];
    const q = [0.2, 0.2, 0.6];
    const kl = p.reduce((sum, value, v) => sum + value * Math.log(value / (q[v] ?? 1)), 0);
    const mean = (estimate: KlEstimate): number =>
      p.reduce(
        (sum, value, v) => sum + value * estimate(Math.log(value), Math.log(q[v] ?? 1)).value,
        0,
      );
    expect(mean(k1)).toBeCloseTo(kl, 14);
    expect(mean(k3)).toBeCloseTo(kl, 14);
    // ∂KL/∂logit₀ = p₀·(ln(p₀/q₀) − KL); a token's log-prob changes by [v = 0] − p₀.
    const expected = 0.5 * (Math.log(0.5 / 0.2) - kl);
    const gradient = p.reduce((sum, value, v) => {
      const { grad } = k2(Math.log(value), Math.log(q[v] ?? 1));
      return sum + value * grad * ((v === 0 ? 1 : 0) - 0.5);
    }, 0);
    expect(gradient).toBeCloseTo(expected, 14);
  });

  it('straight-through keeps the value and takes the gradient of k2', () => {
    expect(straightThrough(k3)(-1, -2.5)).toEqual({ value: k3(-1, -2.5).value, grad: 1.5 });
  });

  it('bounded, k3 neither exceeds 10 nor moves there', () => {
    expect(k3Bounded(-5, -1)).toEqual({ value: 10, grad: 0 });
    expect(k3Bounded(-1, -40)).toEqual({ value: 10, grad: 0 });
    expect(k3Bounded(-1, -1.5)).toEqual(k3(-1, -1.5));
  });

  it('are chosen by name, and unknown ones list the known', () => {
    const batch = {
      logprobs: Float64Array.of(-1),
      oldLogprobs: Float64Array.of(-1),
      refLogprobs: Float64Array.of(-2.5),
      advantages: Float64Array.of(0),
      lossMask: Float64Array.of(1),
      sequenceOffsets: Int32Array.of(0, 1),
    };
    const gradOf = (kl: string): number | undefined =>
      grpo.with({ kl, klCoefficient: 1 }).loss(batch, countGlobally([batch])).gradLogprobs[0];
    expect(gradOf('k1')).toBe(1);
    expect(gradOf('k1+')).toBe(1.5);
    expect(() => gradOf('k4')).toThrow(
      /algorithm.kl: expected one of abs, k1, k2, k3, k3-bounded, abs\+.*got "k4"/,
    );
  });
});
