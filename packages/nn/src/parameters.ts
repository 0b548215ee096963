/** Parameters are a flat record from dotted Hugging Face names to tensors. */
import { type DType, MissingError, randomAt, type Shape, sizeOf } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';

/** A model's parameters: tensors by dotted Hugging Face name, such as `model.norm.weight`. */
export type Parameters = Readonly<Record<string, Tensor>>;

/** The distribution of a parameter's start values. */
export type Initializer =
  /** Normal with standard deviation gain/√fanIn; fanIn is the number of elements of one row. */
  | { readonly kind: 'scaledNormal'; readonly gain: number }
  | { readonly kind: 'normal'; readonly std: number }
  /** Uniform from −bound to bound. */
  | { readonly kind: 'uniform'; readonly bound: number }
  | { readonly kind: 'constant'; readonly value: number };

/** Describes one parameter to create. A model's specs are its architecture; they hold no values. */
export interface ParameterSpec {
  /** Dotted Hugging Face name; with the seed it determines the start values. */
  readonly name: string;
  readonly shape: Shape;
  readonly initializer: Initializer;
  /** True of the weight [N, K] of a linear layer, which a low-rank adapter can adapt. */
  readonly isLinear?: boolean;
}

/** The parameter called `name`. @throws MissingError if there is none */
export function parameter(parameters: Parameters, name: string): Tensor {
  const found = parameters[name];
  if (found === undefined) {
    throw new MissingError(
      `The weights have no "${name}". Check that they belong to this architecture.`,
    );
  }
  return found;
}

/** Start values of one parameter. They depend only on its spec and the seed. */
export function initialValues(spec: ParameterSpec, seed: number): Float32Array {
  const values = new Float32Array(sizeOf(spec.shape));
  const { initializer } = spec;
  if (initializer.kind === 'constant') return values.fill(initializer.value);
  // The address is part of every stored result: another spelling draws other weights.
  const random = randomAt(seed, 'initialise', spec.name);
  if (initializer.kind === 'uniform') {
    const { bound } = initializer;
    for (let i = 0; i < values.length; i++) values[i] = bound * (2 * random.uniform() - 1);
    return values;
  }
  const fanIn = sizeOf(spec.shape.slice(1));
  const std = initializer.kind === 'normal' ? initializer.std : initializer.gain / Math.sqrt(fanIn);
  for (let i = 0; i < values.length; i++) values[i] = std * random.normal();
  return values;
}

/** Uploads fresh parameters to a device, in the order of the specs. */
export function initialize(
  device: Device,
  specs: readonly ParameterSpec[],
  seed: number,
  dtype: DType = 'f32',
): Record<string, Tensor> {
  const parameters: Record<string, Tensor> = {};
  for (const spec of specs) {
    parameters[spec.name] = tensor(device, dtype, spec.shape, initialValues(spec, seed));
  }
  return parameters;
}
