/** AdamW with global-norm clipping over a record of parameters, one fused op per tensor. */
import { formatShape, ShapeError, StateError } from '@saccade/core';
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

export interface AdamWResult {
  /** The state after the step; its moments are the tensors of the state before. */
  readonly state: AdamWState;
  /** Global gradient norm before clipping. */
  readonly gradNorm: number;
  /** True where the norm was not finite: then parameters, moments and step stay as they were. */
  readonly isSkipped: boolean;
}

/** Zero moments for every parameter. */
export function adamwInit(parameters: Readonly<Record<string, Tensor>>): AdamWState {
  const moments = () =>
    Object.fromEntries(
      Object.entries(parameters).map(([name, p]) => [name, zeros(p.device, 'f32', p.shape)]),
    );
  return { step: 0, m: moments(), v: moments() };
}

/** Frees the moments. */
export function adamwDispose({ m, v }: AdamWState): void {
  for (const moment of [...Object.values(m), ...Object.values(v)]) moment.dispose();
}

/**
 * One step, in place on parameters and moments. Loshchilov & Hutter 2019, arXiv:1711.05101, alg. 2;
 * the operations stand in the order of torch.optim.AdamW, and clipping is clip_grad_norm_'s.
 *
 * Norms are added in the order of the parameters' names, so a step is the same bits every time.
 *
 * @param gradients  by parameter name; a parameter without one stays as it is
 * @throws StateError if there is no gradient, or no moments for one; ShapeError if a size differs
 */
export async function adamwUpdate(
  parameters: Readonly<Record<string, Tensor>>,
  gradients: Readonly<Record<string, Tensor | undefined>>,
  state: AdamWState,
  options: AdamWOptions,
): Promise<AdamWResult> {
  const updates = Object.keys(parameters)
    .filter((name) => gradients[name] !== undefined)
    .sort()
    .map((name) => ({
      param: flat(name, parameters, parameters),
      m: flat(name, state.m, parameters),
      v: flat(name, state.v, parameters),
      grad: flat(name, gradients, parameters),
    }));
  const device = updates[0]?.param.device;
  if (device === undefined) {
    throw new StateError('There is no gradient to step on. Run the backward pass first.');
  }
  const sumSquares = tensor(device, 'f32', [1], [0]);
  try {
    for (const { grad } of updates) apply(gradNorm, { grad, sum: sumSquares });
    const [total = Number.NaN] = await sumSquares.read();
    const norm = Math.sqrt(total);
    // One inf or NaN would spread through the moments to every later step.
    if (!Number.isFinite(norm)) return { state, gradNorm: norm, isSkipped: true };
    const { maxGradNorm, ...rates } = options;
    const scalars = { ...rates, step: state.step + 1, maxNorm: maxGradNorm };
    for (const update of updates) apply(adamwStep, { ...update, sumSquares }, scalars);
    return { state: { ...state, step: state.step + 1 }, gradNorm: norm, isSkipped: false };
  } finally {
    sumSquares.dispose();
  }
}

/** The named tensor as a vector. */
function flat(
  name: string,
  tensors: Readonly<Record<string, Tensor | undefined>>,
  parameters: Readonly<Record<string, Tensor>>,
): Tensor {
  const found = tensors[name];
  const parameter = parameters[name];
  if (found === undefined || parameter === undefined) {
    throw new StateError(
      `The optimizer has no moments for "${name}". Make its state with adamwInit of all parameters.`,
    );
  }
  if (found.size !== parameter.size) {
    throw new ShapeError(
      `"${name}" must be ${formatShape(parameter.shape)}, got ${formatShape(found.shape)}. ` +
        'Pass gradients and a state of these parameters.',
    );
  }
  return found.reshape([found.size]);
}
