/** The only door to the device: runs an op on tensors and shows it to the recording tape. */
import { StateError } from '@saccade/core';
import type { DeviceArray, Op, Scalars } from '@saccade/ops';
import { adopt } from './scope.ts';
import { recordingTape } from './tape.ts';
import type { Tensor } from './tensor.ts';

export type TensorArguments = Readonly<Record<string, Tensor | undefined>>;

/**
 * Outputs of `op` by name. In-place outputs are the input's own tensor.
 *
 * @throws ShapeError, DtypeError, UnsupportedError from the device, before any work
 */
export function apply(op: Op, inputs: TensorArguments, scalars?: Scalars): Record<string, Tensor> {
  let device: Tensor['device'] | undefined;
  const arrays: Record<string, DeviceArray | undefined> = {};
  for (const name in inputs) {
    const input = inputs[name];
    if (input === undefined) continue;
    device ??= input.device;
    arrays[name] = input.array;
  }
  if (device === undefined) throw new StateError(`${op.id} was called without inputs.`);
  const results = device.forward(op, arrays, scalars);
  const outputs: Record<string, Tensor> = {};
  for (const name in results) {
    const inPlaceOf = op.outputs[name]?.inPlaceOf;
    const source = inPlaceOf === undefined ? undefined : inputs[inPlaceOf];
    const result = results[name];
    if (result === undefined) continue;
    outputs[name] = source ?? adopt(device, result);
  }
  recordingTape()?.record(op, inputs, outputs, scalars);
  return outputs;
}
