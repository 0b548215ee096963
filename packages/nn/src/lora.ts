/** Low-rank adapters of linear layers (LoRA), as parameters beside the weight that they adapt. */

import type { DType } from '@saccade/core';
import type { Device } from '@saccade/ops';
import { add, linear, type Tensor, tensor } from '@saccade/tensor';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';

/** How much an adapter adds. */
export interface LoraScale {
  /** Rank r of the update, the rows of A. */
  readonly rank: number;
  /** α. The update is scaled by α/r. */
  readonly alpha: number;
  /** Rank-stabilized: scaled by α/√r instead (Kalajdzievski 2023, arXiv:2312.03732). */
  readonly rsLora: boolean;
}

/** Names of a layer's adapter: A [r, K], B [N, r], and the factor [1, 1] of their product. */
export function loraNames(layer: string): {
  readonly a: string;
  readonly b: string;
  readonly scale: string;
} {
  return {
    a: `${layer}.lora_A.weight`,
    b: `${layer}.lora_B.weight`,
    scale: `${layer}.lora_scale`,
  };
}

/** The factor of B·A: α/r, or α/√r if rank-stabilized. */
export function loraScale({ rank, alpha, rsLora }: LoraScale): number {
  return alpha / (rsLora ? Math.sqrt(rank) : rank);
}

/** The factor as a parameter, for the name `loraNames` gives it. It does not train. */
export function loraScaleTensor(device: Device, scale: LoraScale, dtype: DType = 'f32'): Tensor {
  return tensor(device, dtype, [1, 1], [loraScale(scale)]);
}

/**
 * The trained parameters of the adapter of a layer with weight [rows, columns]. A starts uniform
 * within ±1/√columns, as in peft, and B at zero, so that an adapter starts by adding nothing.
 */
export function loraSpecs(
  layer: string,
  rows: number,
  columns: number,
  rank: number,
): readonly ParameterSpec[] {
  const { a, b } = loraNames(layer);
  const bound = 1 / Math.sqrt(columns);
  return [
    { name: a, shape: [rank, columns], initializer: { kind: 'uniform', bound } },
    { name: b, shape: [rows, rank], initializer: { kind: 'constant', value: 0 } },
  ];
}

/**
 * y + scale·B·(A·x) for a layer that has an adapter, else y. The weight itself needs no gradient.
 *
 * Hu et al. 2021, arXiv:2106.09685, eq. 3.
 *
 * @param x  [M, K] the layer's input
 * @param y  [M, N] its output without the adapter
 */
export function adapted(parameters: Parameters, layer: string, x: Tensor, y: Tensor): Tensor {
  const { a, b, scale } = loraNames(layer);
  const down = parameters[a];
  if (down === undefined) return y;
  const low = linear(x, down);
  // Of all products this has the fewest elements to scale; a 1×1 weight does it with a gradient.
  const scaled = linear(low.reshape([-1, 1]), parameter(parameters, scale)).reshape(low.shape);
  return add(y, linear(scaled, parameter(parameters, b)));
}
