/** Linear layers whose weight is quantized, as parameters beside the weight that they stand in for. */
import { type WeightForm, weightDims } from '@saccade/ops';
import { adopt, quantizeWeight, type Tensor } from '@saccade/tensor';

/** Names of a layer's codes [P, W, 16] and scales [S, N]; see the op `quantizeWeight`. */
export function quantizedNames(layer: string): { readonly codes: string; readonly scales: string } {
  return { codes: `${layer}.weight_codes`, scales: `${layer}.weight_scales` };
}

/** A quantized weight on a device. */
export interface QuantizedWeight {
  readonly codes: Tensor;
  readonly scales: Tensor;
}

/** Allocates codes and scales for a weight [N, K]; `requantize` fills them. */
export function allocateQuantized(weight: Tensor, form: WeightForm): QuantizedWeight {
  const { device, shape } = weight;
  const { N = 0, P = 0, W = 0, L = 0, S = 0 } = weightDims(shape[0] ?? 0, shape[1] ?? 0, form);
  return {
    codes: adopt(device, device.alloc('i32', [P, W, L])),
    scales: adopt(device, device.alloc('f32', [S, N])),
  };
}

/** Writes the codes and scales of a weight [N, K], in queue order. */
export function requantize(weight: Tensor, { codes, scales }: QuantizedWeight): void {
  quantizeWeight(weight, codes, scales);
}
