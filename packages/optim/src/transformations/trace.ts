/** Momentum: a decaying sum of updates. */
import { blend, zerosFor } from '../arrays.ts';
import { stateTensor } from '../state.ts';
import type { Transformation } from '../transformation.ts';

export interface TraceOptions {
  /** μ, how much of the trace is kept. */
  readonly decay: number;
  /** Looks one step ahead. Default false. */
  readonly nesterov?: boolean;
  /** What is added to the trace: 1 for a sum of updates, 1 − μ for their mean. Default 1. */
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
