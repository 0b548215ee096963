/** Runs an op on tensors and passes it to the recording tape; all fronts call it. */
import { StateError } from '@saccade/core';
import type { DeviceArray, InputsOf, Op, OutputsOf, Scalars, ScalarsOf } from '@saccade/ops';
import { adopt } from './scope.ts';
import { recordingTape } from './tape.ts';
import type { Tensor } from './tensor.ts';

/**
 * Inputs of an op by operand name; `undefined` or absent for an optional input that is left out.
 */
export type TensorArguments = Readonly<Record<string, Tensor | undefined>>;

/**
 * Runs `op` and returns its outputs by name. An in-place output is the input's own tensor.
 *
 * @throws ShapeError, DtypeError, UnsupportedError from the device, before any work
 * @throws StateError if there is no input, or one was freed
 */
export function apply<O extends Op>(
  op: O,
  inputs: InputsOf<O, Tensor>,
  scalars?: ScalarsOf<O>,
): OutputsOf<O, Tensor> {
  return applyAny(op, inputs as TensorArguments, scalars as Scalars) as OutputsOf<O, Tensor>;
}

function applyAny(op: Op, inputs: TensorArguments, scalars?: Scalars): Record<string, Tensor> {
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
