/** Embeds patches as vectors before the vision blocks, and merges them into visual tokens after. */
import { gelu, linear, type Tensor } from '@saccade/tensor';
import { linearLayer, linearSpecs, normSpecs, rmsNormLayer } from './layers.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';

/**
 * Patches [P, C·frames·side·side] as vectors [P, hidden]: the convolution whose stride is its kernel,
 * `<name>.weight` [hidden, C, (frames,) side, side], is a matrix product.
 */
export function patchEmbedding(
  parameters: Parameters,
  name: string,
  patches: Tensor,
  hasBias: boolean,
): Tensor {
  const weight = parameter(parameters, `${name}.weight`);
  const bias = hasBias ? parameter(parameters, `${name}.bias`) : undefined;
  return linear(patches, weight.reshape([weight.shape[0] ?? 0, -1]), bias);
}

/**
 * Merges each `patchesPerUnit` neighboring rows of x [P, hidden] into one visual token.
 *
 *   y = W₂·gelu(W₁·concat(norm(x)) + b₁) + b₂
 *
 * @returns [P / patchesPerUnit, outputHidden]
 */
export function patchMerger(
  parameters: Parameters,
  name: string,
  x: Tensor,
  options: { readonly patchesPerUnit: number; readonly eps: number },
): Tensor {
  const normed = rmsNormLayer(parameters, `${name}.ln_q`, x, options.eps);
  const units = normed.reshape([-1, options.patchesPerUnit * (x.shape[1] ?? 0)]);
  const inner = gelu(linearLayer(parameters, `${name}.mlp.0`, units, true));
  return linearLayer(parameters, `${name}.mlp.2`, inner, true);
}

/** Parameters of the merger. */
export function patchMergerSpecs(
  name: string,
  shape: {
    readonly hidden: number;
    readonly patchesPerUnit: number;
    readonly outputHidden: number;
  },
): readonly ParameterSpec[] {
  const merged = shape.hidden * shape.patchesPerUnit;
  return [
    ...normSpecs(`${name}.ln_q`, shape.hidden),
    ...linearSpecs(`${name}.mlp.0`, merged, merged, true),
    ...linearSpecs(`${name}.mlp.2`, shape.outputHidden, merged, true),
  ];
}
