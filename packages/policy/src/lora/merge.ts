/** Adapters added to the weights that they adapt, for engines and samplers without adapters. */
import { convert } from '@saccade/core';
import { loraNames, type Parameters, parameter } from '@saccade/nn';
import { add, adopt, linear, scope, type Tensor, tensor } from '@saccade/tensor';

/**
 * W + scale·B·A of a layer in the weight's own element type, or undefined if it has no adapter. The
 * sum is made in f32 and rounded once, so that log-probs differ in last bits from those of
 * W·x + scale·B·(A·x).
 *
 * @param parameters  with the views of an adapter
 * @param name        of the layer's weight
 */
export async function mergedWeight(
  parameters: Parameters,
  name: string,
): Promise<Tensor | undefined> {
  const layer = name.slice(0, name.lastIndexOf('.'));
  const names = loraNames(layer);
  const down = name.endsWith('.weight') ? parameters[names.a] : undefined;
  if (down === undefined) return undefined;
  const weight = parameter(parameters, name);
  const [a, scale] = await Promise.all([down.read(), parameter(parameters, names.scale).read()]);
  const [rank = 0, columns = 0] = down.shape;
  const transposed = new Float32Array(a.length);
  for (let r = 0; r < rank; r++) {
    for (let k = 0; k < columns; k++) {
      transposed[k * rank + r] = (scale[0] ?? 0) * (a[r * columns + k] ?? 0);
    }
  }
  const { device, shape, dtype } = weight;
  const factor = parameter(parameters, names.b);
  const update = () => linear(factor, tensor(device, factor.dtype, [columns, rank], transposed));
  if (dtype === 'f32') return scope(() => add(weight, update()));
  const made = scope(update);
  const [low, high] = await Promise.all([made.read(), weight.read()]);
  made.dispose();
  const sum = Float32Array.from(high, (value, i) => value + (low[i] ?? 0));
  const merged = adopt(device, device.alloc(dtype, shape));
  merged.writeStored(convert(sum, 'f32', dtype));
  return merged;
}
