/** The L2 norm of many tensors as one vector. */
import { gradNorm } from '@saccade/ops';
import { apply, type Tensor, tensor } from '@saccade/tensor';
import { flat } from './arrays.ts';
import type { Tensors } from './transformation.ts';

export interface GlobalNorm {
  /** [1] f32, the square of the norm, on the device; the caller frees it. */
  readonly sumSquares: Tensor;
  readonly norm: number;
}

/** The norm, added up in the order of the names, so that it is the same bits every time. */
export async function globalNorm(tensors: Tensors): Promise<GlobalNorm | undefined> {
  const names = Object.keys(tensors).sort();
  const device = names[0] === undefined ? undefined : tensors[names[0]]?.device;
  if (device === undefined) return undefined;
  const sumSquares = tensor(device, 'f32', [1], [0]);
  try {
    for (const name of names) {
      const grad = tensors[name];
      if (grad !== undefined) apply(gradNorm, { grad: flat(grad), sum: sumSquares });
    }
    const [total = Number.NaN] = await sumSquares.read();
    return { sumSquares, norm: Math.sqrt(total) };
  } catch (error) {
    sumSquares.dispose();
    throw error;
  }
}

/**
 * The factor that clips a norm to a limit: min(1, maxNorm / (norm + 10⁻⁶)), as
 * `torch.nn.utils.clip_grad_norm_`; 1 where the limit is 0.
 */
export function clipFactor(norm: number, maxNorm: number): number {
  return maxNorm === 0 ? 1 : Math.min(1, maxNorm / (norm + 1e-6));
}
