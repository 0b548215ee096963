/** Adam's direction: the mean of gradients over the root of the mean of their squares. */
import { adamwStep } from '@saccade/ops';
import { apply, tensor } from '@saccade/tensor';
import { blend, flat, zerosFor, zerosLike } from '../arrays.ts';
import { stateNumber, stateTensor } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/** Constants of `scaleByAdam`; the paper and torch use 0.9, 0.999 and 1e-8. */
export interface AdamOptions {
  /** β₁, decay of the first moment, in [0, 1). */
  readonly beta1: number;
  /** β₂, decay of the second moment, in [0, 1). */
  readonly beta2: number;
  /** Added to the root of the second moment, after its bias correction. */
  readonly eps: number;
}

/**
 * m ← β₁·m + (1 − β₁)·u;  v ← β₂·v + (1 − β₂)·u²;  u ← m/(1 − β₁ᵗ) / (√(v/(1 − β₂ᵗ)) + eps)
 *
 * Kingma & Ba 2015, arXiv:1412.6980, algorithm 1. State: `step` t, `m.<name>`, `v.<name>`.
 */
export function scaleByAdam({ beta1, beta2, eps }: AdamOptions): Transformation {
  return {
    init: (parameters) => ({
      numbers: { step: 0 },
      tensors: { ...zerosFor('m', parameters), ...zerosFor('v', parameters) },
    }),
    async update(updates, state) {
      const step = stateNumber(state, 'step') + 1;
      const scalars = { learningRate: -1, beta1, beta2, eps, weightDecay: 0, step, maxNorm: 0 };
      for (const [name, update] of Object.entries(updates)) {
        const [m, v] = [stateTensor(state, `m.${name}`), stateTensor(state, `v.${name}`)];
        // A step from zero at a rate of −1 is the direction.
        const direction = zerosLike(update);
        const sumSquares = tensor(update.device, 'f32', [1], [0]);
        const operands = { param: flat(direction), m: flat(m), v: flat(v), grad: flat(update) };
        apply(adamwStep, { ...operands, sumSquares }, scalars);
        blend(direction, update, 1, 0);
        direction.dispose();
        sumSquares.dispose();
      }
      return { ...state, numbers: { step } };
    },
  };
}
