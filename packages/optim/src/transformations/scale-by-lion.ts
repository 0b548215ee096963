/** Lion's direction: the sign of a blend of gradient and momentum. */
import { blend, copyOf, takeSign, zerosFor } from '../arrays.ts';
import { stateTensor } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/**
 * c = β₁·m + (1 − β₁)·u;  m ← β₂·m + (1 − β₂)·u;  u ← sign(c)
 *
 * Chen et al. 2023, arXiv:2302.06675, algorithm 2. State: `m.<name>`.
 */
export function scaleByLion(options: {
  readonly beta1: number;
  readonly beta2: number;
}): Transformation {
  const { beta1, beta2 } = options;
  return {
    init: (parameters) => ({ numbers: {}, tensors: zerosFor('m', parameters) }),
    async update(updates, state) {
      for (const [name, update] of Object.entries(updates)) {
        const m = stateTensor(state, `m.${name}`);
        const before = copyOf(m);
        blend(update, m, 1 - beta2, beta2);
        blend(before, update, beta1, 1 - beta1);
        takeSign(update);
        before.dispose();
      }
      return state;
    },
  };
}
