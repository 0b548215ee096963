/** AdamW with global-norm clipping over a record of parameters, one fused op per tensor. */
import { StateError } from '@saccade/core';
import { adamwStep, gradNorm } from '@saccade/ops';
import { apply, type Tensor, tensor, zeros } from '@saccade/tensor';

export interface AdamWState {
  /** Steps taken. */
  readonly step: number;
  /** First and second moments by parameter name. */
  readonly m: Readonly<Record<string, Tensor>>;
  readonly v: Readonly<Record<string, Tensor>>;
}

export interface AdamWOptions {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Global gradient norm is clipped to this; 0 for no clipping. */
  readonly maxGradNorm: number;
}

/** Zero moments for every parameter. */
export function adamwInit(parameters: Readonly<Record<string, Tensor>>): AdamWState {
  const moments = () =>
    Object.fromEntries(
      Object.entries(parameters).map(([name, p]) => [name, zeros(p.device, 'f32', p.shape)]),
    );
  return { step: 0, m: moments(), v: moments() };
}

/**
 * One step, in place on parameters and moments. Loshchilov & Hutter 2019, arXiv:1711.05101, alg. 2;
 * the operations stand in the order of torch.optim.AdamW.
 *
 * Norms are added in the order of the parameters' names, so a step is the same bits every time.
 *
 * @param gradients  by parameter name; a parameter without one stays as it is
 * @returns the state after the step, and the global gradient norm before clipping
 */
export async function adamwUpdate(
  parameters: Readonly<Record<string, Tensor>>,
  gradients: Readonly<Record<string, Tensor | undefined>>,
  state: AdamWState,
  options: AdamWOptions,
): Promise<{ readonly state: AdamWState; readonly gradNorm: number }> {
  const names = Object.keys(parameters)
    .filter((name) => gradients[name] !== undefined)
    .sort();
  const first = parameters[names[0] ?? ''];
  if (first === undefined) {
    throw new StateError('There is no gradient to step on. Call forwardBackward first.');
  }
  const sum = tensor(first.device, 'f32', [1], [0]);
  const flat = (t: Tensor) => t.reshape([t.size]);
  try {
    for (const name of names) apply(gradNorm, { grad: flat(gradients[name] as Tensor), sum });
    const step = state.step + 1;
    const { maxGradNorm, ...rates } = options;
    for (const name of names) {
      const inputs = {
        param: flat(parameters[name] as Tensor),
        m: flat(state.m[name] as Tensor),
        v: flat(state.v[name] as Tensor),
        grad: flat(gradients[name] as Tensor),
        sumSquares: sum,
      };
      apply(adamwStep, inputs, { ...rates, step, maxNorm: maxGradNorm });
    }
    const [total] = await sum.read();
    return { state: { ...state, step }, gradNorm: Math.sqrt(total ?? Number.NaN) };
  } finally {
    sum.dispose();
  }
}
