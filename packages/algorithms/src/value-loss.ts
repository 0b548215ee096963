/** The loss of a value function, with clipping. */
import { quantity } from '@saccade/core/settings';
import type { TokenBatch } from './algorithm.ts';
import type { ValueTerm } from './choices.ts';
import { LARGEST } from './fields.ts';
import { owning } from './unit.ts';

/** Makes the value term of a loss from its settings. */
export const valueTerm = owning(
  {
    valueClip: quantity({
      min: 0,
      max: LARGEST,
      default: 0.5,
      unit: 'return',
      about: 'Largest distance of a value from the old one; 0 disables the bound.',
    }),
    valueCoefficient: quantity({
      min: 0,
      max: LARGEST,
      default: 1,
      unit: 'factor',
      about: 'Weight of the value loss.',
    }),
  },
  (options: { readonly valueClip: number; readonly valueCoefficient: number }): ValueTerm => ({
    clip: options.valueClip,
    coefficient: options.valueCoefficient,
  }),
);

/** Value losses per token, and their derivatives. */
export interface ValueLoss {
  /** [N] not yet masked or aggregated. */
  readonly losses: Float64Array;
  /** [N] ∂losses/∂values. */
  readonly grads: Float64Array;
  /** [N] 1 where the clipped value had the larger error and so was used. */
  readonly isClipped: Uint8Array;
}

/**
 * Squared error of the value function. Moving a value beyond the clip around the old one gains
 * nothing.
 *
 *   ℓ = ½·max((V − G)², (clip(V, V_old ± valueClip) − G)²)
 *
 * Schulman et al. 2017, arXiv:1707.06347, in the form of OpenAI's baselines; verl's
 * `compute_value_loss` (cliprange_value 0.5). valueClip 0 is the plain squared error.
 *
 * @param batch values [N], oldValues [N] constant, returns [N] constant
 */
export function clippedValueLoss(
  { values = none, oldValues = none, returns = none }: TokenBatch,
  valueClip: number,
): ValueLoss {
  const N = values.length;
  const [losses, grads] = [new Float64Array(N), new Float64Array(N)];
  const isClipped = new Uint8Array(N);
  const bound = valueClip === 0 ? Number.POSITIVE_INFINITY : valueClip;
  for (let t = 0; t < N; t++) {
    const [value, old] = [values[t] as number, oldValues[t] as number];
    const error = value - (returns[t] as number);
    const held = Math.max(old - bound, Math.min(old + bound, value));
    const heldError = held - (returns[t] as number);
    if (heldError * heldError > error * error) {
      losses[t] = 0.5 * heldError * heldError;
      grads[t] = held === value ? heldError : 0;
      isClipped[t] = 1;
    } else {
      losses[t] = 0.5 * error * error;
      grads[t] = error;
    }
  }
  return { losses, grads, isClipped };
}

const none = new Float64Array(0);
