/** Parameters are a flat record from dotted Hugging Face names to tensors. */
import { MissingError, randomAt, type Shape, sizeOf } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';

export type Parameters = Readonly<Record<string, Tensor>>;

/** How one parameter starts. */
export type Initializer =
  /** Normal with standard deviation gain/√fanIn, fanIn being the elements of one row. */
  | { readonly kind: 'scaledNormal'; readonly gain: number }
  | { readonly kind: 'normal'; readonly std: number }
  | { readonly kind: 'constant'; readonly value: number };

export interface ParameterSpec {
  readonly name: string;
  readonly shape: Shape;
  readonly initializer: Initializer;
}

/** The parameter called `name`. @throws MissingError naming it */
export function parameter(parameters: Parameters, name: string): Tensor {
  const found = parameters[name];
  if (found === undefined) {
    throw new MissingError(
      `The weights have no "${name}". Check that they belong to this architecture.`,
    );
  }
  return found;
}

/** Start values of one parameter; they depend on the seed and its name alone. */
export function initialValues(spec: ParameterSpec, seed: number): Float32Array {
  const values = new Float32Array(sizeOf(spec.shape));
  const { initializer } = spec;
  if (initializer.kind === 'constant') return values.fill(initializer.value);
  const fanIn = sizeOf(spec.shape.slice(1));
  const std = initializer.kind === 'normal' ? initializer.std : initializer.gain / Math.sqrt(fanIn);
  const random = randomAt(seed, 'initialise', spec.name);
  for (let i = 0; i < values.length; i++) values[i] = std * random.normal();
  return values;
}

/** Fresh parameters on a device, in the order of the specs. */
export function initialise(
  device: Device,
  specs: readonly ParameterSpec[],
  seed: number,
): Record<string, Tensor> {
  const parameters: Record<string, Tensor> = {};
  for (const spec of specs) {
    parameters[spec.name] = tensor(device, 'f32', spec.shape, initialValues(spec, seed));
  }
  return parameters;
}
