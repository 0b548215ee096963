/** Weight decay. */
import { StateError } from '@saccade/core';
import { blend } from '../arrays.ts';
import { emptyState } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/**
 * u ← u + decay·θ
 *
 * After the optimizer's own scaling it is the decoupled decay of Loshchilov & Hutter 2019,
 * arXiv:1711.05101; before it, an L2 penalty. No state.
 */
export function addDecayedWeights(decay: number): Transformation {
  return {
    init: () => emptyState,
    async update(updates, state, parameters) {
      if (decay === 0) return state;
      for (const [name, update] of Object.entries(updates)) {
        const parameter = parameters[name];
        if (parameter === undefined) {
          throw new StateError(`There is no parameter "${name}" to decay. Pass all of them.`);
        }
        blend(parameter, update, decay, 1);
      }
      return state;
    },
  };
}
