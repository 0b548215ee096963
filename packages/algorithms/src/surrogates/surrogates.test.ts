import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import type { SurrogateValues } from '../choices.ts';
import { clipNames, mark } from '../marks.ts';
import { numbers } from '../step.fixture.ts';
import { cispoSurrogate } from './cispo.ts';
import { dppoSurrogate } from './dppo.ts';
import { droSurrogate } from './dro.ts';
import { klCovSurrogate } from './kl-cov.ts';
import { sapoSurrogate } from './sapo.ts';
import { unclipped } from './unclipped.ts';

/** Tokens by probability before and now. */
function tokens(rows: readonly { advantage: number; old: number; now: number; marks?: number }[]) {
  return {
    ratios: Float64Array.from(rows, ({ old, now }) => now / old),
    advantages: Float64Array.from(rows, ({ advantage }) => advantage),
    logprobs: Float64Array.from(rows, ({ now }) => Math.log(now)),
    oldLogprobs: Float64Array.from(rows, ({ old }) => Math.log(old)),
    marks: Uint8Array.from(rows, ({ marks = 0 }) => marks),
  };
}

const clipsOf = ({ clips }: SurrogateValues): string[] =>
  Array.from(clips, (code) => clipNames[code]);

describe('CISPO', () => {
  const rows = tokens([
    { advantage: 2, old: 0.1, now: 0.5 },
    { advantage: 2, old: 0.5, now: 0.25 },
    { advantage: -1, old: 0.1, now: 0.11 },
  ]);

  it('weighs with a ratio clipped around 1, and keeps every gradient', () => {
    const values = cispoSurrogate({ clipLow: 0.2, clipHigh: 0.28, clipBounds: 'relative' })(rows);
    expect(numbers(values.gradLogprobs ?? [])).toEqual([-2.56, -1.6, 1.1]);
    expect(clipsOf(values)).toEqual(['high', 'low', 'none']);
    expect([...values.gradRatios]).toEqual([0, 0, 0]);
  });

  it('or with one that has an absolute bound above and none below', () => {
    const values = cispoSurrogate({ clipLow: 0.2, clipHigh: 3, clipBounds: 'absolute' })(rows);
    expect(numbers(values.gradLogprobs ?? [])).toEqual([-6, -1, 1.1]);
    expect(clipsOf(values)).toEqual(['high', 'none', 'none']);
  });

  it('refuses bounds that leave no ratio', () => {
    expect(() => cispoSurrogate({ clipLow: -1, clipHigh: 0.5, clipBounds: 'relative' })).toThrow(
      ConfigError,
    );
  });
});

describe('SAPO', () => {
  const sapo = sapoSurrogate({ temperaturePositive: 1, temperatureNegative: 1.05 });

  it('equals torch autograd', () => {
    const values = sapo({
      ratios: Float64Array.of(0.5, 1, 3, 0.5, 1, 3),
      advantages: Float64Array.of(1, 1, 1, -2, -2, -2),
      logprobs: new Float64Array(6),
      oldLogprobs: new Float64Array(6),
    });
    // torch 2.13, float64: −A·sigmoid(τ·(ρ − 1))·4/τ.
    expect(numbers(values.losses)).toEqual([
      -1.510162675193, -2, -3.523188311912, 2.831876660607, 3.809523809524, 6.787833743272,
    ]);
    expect(numbers(values.gradRatios)).toEqual([
      -0.940014848806, -1, -0.419974341614, 1.868279646571, 2, 0.777557638405,
    ]);
  });

  it('stays finite at any ratio', () => {
    const values = sapo({
      ratios: Float64Array.of(0, 1e300),
      advantages: Float64Array.of(1, -1),
      logprobs: new Float64Array(2),
      oldLogprobs: new Float64Array(2),
    });
    expect([...values.losses, ...values.gradRatios].every(Number.isFinite)).toBe(true);
  });

  it('refuses a temperature of 0', () => {
    expect(() => sapoSurrogate({ temperaturePositive: 0, temperatureNegative: 1 })).toThrow(
      /temperaturePositive must be above 0/,
    );
  });
});

describe('DPPO', () => {
  const rows = tokens([
    // A rare token may multiply its probability; a common one may not move far.
    { advantage: 1, old: 0.001, now: 0.01 },
    { advantage: 1, old: 0.4, now: 0.7 },
    { advantage: 1, old: 0.7, now: 0.4 },
    { advantage: -1, old: 0.7, now: 0.4 },
    { advantage: -1, old: 0.4, now: 0.7 },
  ]);

  it('drops what has left the trust region, and keeps what comes back', () => {
    const options = { clipLow: 0.2, clipHigh: 0.2, ratioCap: 5 };
    const tv = dppoSurrogate({ ...options, divergence: 'total-variation' })(rows);
    expect(clipsOf(tv)).toEqual(['none', 'region', 'none', 'region', 'none']);
    expect(tv.gradLogprobs?.[0]).toBe(-5);
    expect(tv.gradLogprobs?.[1]).toBe(0);
    // The divergences of 0.4 → 0.7 and 0.7 → 0.4 are 0.192 and 0.184 nats, that of the first 0.007.
    const kl = dppoSurrogate({ clipLow: 0.18, clipHigh: 0.19, ratioCap: 5, divergence: 'kl' })(
      rows,
    );
    expect(clipsOf(kl)).toEqual(['none', 'region', 'none', 'region', 'none']);
    const wider = dppoSurrogate({ clipLow: 0.19, clipHigh: 0.2, ratioCap: 5, divergence: 'kl' });
    expect(clipsOf(wider(rows))).toEqual(new Array(5).fill('none'));
  });
});

describe('surrogates without a clip', () => {
  it('DRO: the pull to the old policy grows with the distance', () => {
    const at = tokens([{ advantage: 1, old: 0.5, now: 0.5 * Math.E }]);
    const values = droSurrogate({ quadraticCoefficient: 2 })(at);
    expect(values.losses[0]).toBeCloseTo(-(Math.log(0.5) + 1) + 1, 14);
    expect(values.gradLogprobs?.[0]).toBeCloseTo(1, 14);
  });

  it('KL-Cov: only marked tokens are pulled', () => {
    const row = { advantage: 1, old: 0.2, now: 0.4 };
    const values = klCovSurrogate({ covarianceCoefficient: 0.5 })(
      tokens([row, { ...row, marks: mark.penalized }, { ...row, marks: mark.lowEntropy }]),
    );
    expect(numbers(values.losses)).toEqual(numbers([-2, -2 + 0.5 * Math.log(2), -2]));
    expect([...(values.gradLogprobs ?? [])]).toEqual([0, 0.5, 0]);
  });

  it('unclipped: −ρ·A', () => {
    const values = unclipped()(tokens([{ advantage: -3, old: 0.1, now: 0.5 }]));
    expect(numbers(values.losses)).toEqual([15]);
    expect([...values.gradRatios]).toEqual([3]);
  });
});
