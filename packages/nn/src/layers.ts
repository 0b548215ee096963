/** Layers as functions over a parameter record: each finds its weight and bias by its name. */
import { layerNorm, linear, linearQuantized, rmsNorm, swiglu, type Tensor } from '@saccade/tensor';
import { adapted } from './lora.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';
import { quantizedNames } from './quantized.ts';

/**
 * x·wᵀ + b for `<name>.weight` [N, K] and, if it has one, `<name>.bias` [N]; x [M, K] → [M, N].
 * Where the record has a quantized weight of the layer (`quantized.ts`), that is taken; where it has an
 * adapter (`lora.ts`), its product is added.
 */
export function linearLayer(
  parameters: Parameters,
  name: string,
  x: Tensor,
  hasBias: boolean,
): Tensor {
  const bias = hasBias ? parameter(parameters, `${name}.bias`) : undefined;
  const { codes, scales } = quantizedNames(name);
  const quantized = parameters[codes];
  const y =
    quantized === undefined
      ? linear(x, parameter(parameters, `${name}.weight`), bias)
      : linearQuantized(x, quantized, parameter(parameters, scales), bias);
  return adapted(parameters, name, x, y);
}

/** RMSNorm of the rows of x [N, D] with `<name>.weight` [D]. */
export function rmsNormLayer(parameters: Parameters, name: string, x: Tensor, eps: number): Tensor {
  return rmsNorm(x, parameter(parameters, `${name}.weight`), eps);
}

/** Layer normalization of the rows of x [N, D] with `<name>.weight` and `<name>.bias` [D]. */
export function layerNormLayer(
  parameters: Parameters,
  name: string,
  x: Tensor,
  eps: number,
): Tensor {
  const bias = parameter(parameters, `${name}.bias`);
  return layerNorm(x, parameter(parameters, `${name}.weight`), bias, eps);
}

/** down(silu(gate(x))·up(x)) with `<name>.gate_proj`, `.up_proj` and `.down_proj`. */
export function swigluMlp(
  parameters: Parameters,
  name: string,
  x: Tensor,
  hasBias: boolean,
): Tensor {
  const gate = linearLayer(parameters, `${name}.gate_proj`, x, hasBias);
  const up = linearLayer(parameters, `${name}.up_proj`, x, hasBias);
  return linearLayer(parameters, `${name}.down_proj`, swiglu(gate, up), hasBias);
}

/** Parameters of a linear layer that keeps the size of its input; the bias starts at zero. */
export function linearSpecs(
  name: string,
  rows: number,
  columns: number,
  hasBias: boolean,
): readonly ParameterSpec[] {
  const weight: ParameterSpec = {
    name: `${name}.weight`,
    shape: [rows, columns],
    initializer: { kind: 'scaledNormal', gain: 1 },
    isLinear: true,
  };
  if (!hasBias) return [weight];
  const bias: ParameterSpec = {
    name: `${name}.bias`,
    shape: [rows],
    initializer: { kind: 'constant', value: 0 },
  };
  return [weight, bias];
}

/** The parameter of an RMSNorm, at one. */
export function normSpecs(name: string, width: number): readonly ParameterSpec[] {
  const initializer = { kind: 'constant', value: 1 } as const;
  return [{ name: `${name}.weight`, shape: [width], initializer }];
}

/** The parameters of a layer normalization, at one and zero. */
export function layerNormSpecs(name: string, width: number): readonly ParameterSpec[] {
  const initializer = { kind: 'constant', value: 0 } as const;
  return [...normSpecs(name, width), { name: `${name}.bias`, shape: [width], initializer }];
}

/** Parameters of a SwiGLU MLP. */
export function swigluMlpSpecs(
  name: string,
  hidden: number,
  intermediate: number,
  hasBias: boolean,
): readonly ParameterSpec[] {
  return [
    ...linearSpecs(`${name}.gate_proj`, intermediate, hidden, hasBias),
    ...linearSpecs(`${name}.up_proj`, intermediate, hidden, hasBias),
    ...linearSpecs(`${name}.down_proj`, hidden, intermediate, hasBias),
  ];
}
