/** Momentum: a decaying sum of updates. */
import { blend, zerosFor } from '../arrays.ts';
import { stateTensor } from '../state.ts';
import type { Transformation } from '../transformation.ts';

/** Constants of `trace`. `{ decay: 0.9 }` is momentum as in `torch.optim.SGD`. */
export interface TraceOptions {
  /** μ, the factor by which the trace decays at each update, in [0, 1). */
  readonly decay: number;
  /** Nesterov's momentum: the update looks one step ahead. Default false. */
  readonly nesterov?: boolean;
  /** Weight of a new update: 1 makes the trace a sum, 1 − μ a mean. Default 1. */
  readonly take?: number;
}

/**
 * b ← μ·b + take·u;  u ← b, with Nesterov's momentum take·u + μ·b
 *
 * Sutskever et al. 2013, in the form of `torch.optim.SGD`. State: `trace.<name>`.
 */
export function trace({ decay, nesterov = false, take = 1 }: TraceOptions): Transformation {
  return {
    init: (parameters) => ({ numbers: {}, tensors: zerosFor('trace', parameters) }),
    async update(updates, state) {
      for (const [name, update] of Object.entries(updates)) {
        const sum = stateTensor(state, `trace.${name}`);
        blend(update, sum, take, decay);
        if (nesterov) blend(sum, update, decay, take);
        else blend(sum, update, 1, 0);
      }
      return state;
    },
  };
}
