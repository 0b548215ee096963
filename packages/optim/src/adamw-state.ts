/** The optimizer's state as named arrays, for checkpoints: a resumed run takes the same steps. */
import { DataError, formatShape, type Shape, sameShape } from '@saccade/core';
import { type Tensor, tensor } from '@saccade/tensor';
import type { AdamWState } from './adamw.ts';

/** A host array as safetensors files hold it. */
export interface StateArray {
  readonly dtype: 'f32' | 'i32';
  readonly shape: Shape;
  readonly data: Float32Array | Int32Array;
}

/** `step`, and `m.<name>` and `v.<name>` of every parameter, on the host. */
export async function exportAdamW(state: AdamWState): Promise<Map<string, StateArray>> {
  const arrays = new Map<string, StateArray>();
  arrays.set('step', { dtype: 'i32', shape: [1], data: Int32Array.of(state.step) });
  for (const key of ['m', 'v'] as const) {
    for (const [name, moment] of Object.entries(state[key])) {
      const data = (await moment.read()) as Float32Array;
      arrays.set(`${key}.${name}`, { dtype: 'f32', shape: moment.shape, data });
    }
  }
  return arrays;
}

/**
 * The inverse of `exportAdamW`, on the parameters' device.
 *
 * @throws DataError naming the first array that is missing or has another shape, before any upload
 */
export function importAdamW(
  parameters: Readonly<Record<string, Tensor>>,
  arrays: ReadonlyMap<string, StateArray>,
): AdamWState {
  const find = (key: string, shape: Shape): StateArray['data'] => {
    const array = arrays.get(key);
    if (array !== undefined && sameShape(array.shape, shape)) return array.data;
    throw new DataError(
      `The optimizer state must have "${key}" ${formatShape(shape)}, got ` +
        `${array === undefined ? 'none' : formatShape(array.shape)}. ` +
        'Load a state saved with these parameters.',
    );
  };
  const [step] = find('step', [1]);
  const data = Object.entries(parameters).map(([name, { device, shape }]) => {
    return { name, device, shape, m: find(`m.${name}`, shape), v: find(`v.${name}`, shape) };
  });
  const moments = (key: 'm' | 'v') =>
    Object.fromEntries(
      data.map((entry) => [entry.name, tensor(entry.device, 'f32', entry.shape, entry[key])]),
    );
  return { step: step as number, m: moments('m'), v: moments('v') };
}
