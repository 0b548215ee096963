/** Fades tokens out with a smooth gate instead of a clip. */
import { ConfigError } from '@saccade/core';
import { quantity } from '@saccade/core/settings';
import type { Surrogate } from '../choices.ts';
import { LARGEST } from '../fields.ts';
import { owning } from '../unit.ts';

/** Options of `sapoSurrogate`: temperatures of the gate, above 0. */
export interface SapoOptions {
  /** τ where A > 0. */
  readonly temperaturePositive: number;
  /** τ where A ≤ 0; a larger τ closes the gate faster. */
  readonly temperatureNegative: number;
}

/**
 * Soft gate on the ratio, whose slope is 1 at ρ = 1 and fades on both sides.
 *
 *   ℓ = −A · (4/τ)·σ(τ·(ρ − 1)),   σ the logistic function
 *   ∂ℓ/∂ρ = −A · 4·σ·(1 − σ)
 *
 * SAPO, arXiv:2511.20347; both verl and TRL have it.
 *
 * @throws ConfigError if a temperature is not above 0
 */
export const sapoSurrogate = owning(
  {
    temperaturePositive: quantity({
      min: 1e-6,
      max: LARGEST,
      default: 1,
      unit: '1/ratio',
      about: 'τ of the gate where A > 0.',
    }),
    temperatureNegative: quantity({
      min: 1e-6,
      max: LARGEST,
      default: 1.05,
      unit: '1/ratio',
      about: 'τ of the gate where A ≤ 0.',
    }),
  },
  makeSapo,
);

function makeSapo({ temperaturePositive, temperatureNegative }: SapoOptions): Surrogate {
  for (const [name, value] of Object.entries({ temperaturePositive, temperatureNegative })) {
    if (!(value > 0)) throw new ConfigError(name, `${name} must be above 0, is ${value}.`);
  }
  return ({ ratios, advantages }) => {
    const losses = new Float64Array(ratios.length);
    const gradRatios = new Float64Array(ratios.length);
    for (let t = 0; t < ratios.length; t++) {
      const advantage = advantages[t] as number;
      const temperature = advantage > 0 ? temperaturePositive : temperatureNegative;
      const gate = 1 / (1 + Math.exp(-temperature * ((ratios[t] as number) - 1)));
      losses[t] = (-advantage * gate * 4) / temperature;
      gradRatios[t] = -advantage * 4 * gate * (1 - gate);
    }
    return { losses, gradRatios, clips: new Uint8Array(ratios.length) };
  };
}
