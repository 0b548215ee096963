/** Shows what every transformer block gives, for comparisons of models layer by layer. */
import type { Tensor } from '@saccade/tensor';

/**
 * Takes the name of a block, such as `model.layers.3`, and its output [T, hidden]. The tensor belongs
 * to the scope around the model's forward: read or keep it before that ends.
 */
export type BlockObserver = (name: string, output: Tensor) => void;

let current: BlockObserver | undefined;

/** Runs synchronous work and shows the output of every transformer block in it, in order. */
export function observingBlocks<T>(observe: BlockObserver, work: () => T): T {
  const outer = current;
  current = observe;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** Shows a block's output to whom it may concern, and returns it. */
export function observed(name: string, output: Tensor): Tensor {
  current?.(name, output);
  return output;
}
