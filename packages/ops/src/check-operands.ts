/** The checks at the door of a device: names, shapes, element types and gradients. */
import {
  type DType,
  DtypeError,
  formatShape,
  type Shape,
  ShapeError,
  sameShape,
  UnsupportedError,
} from '@saccade/core';
import type { DeviceArray, DeviceArrays } from './device-array.ts';
import { inferDims, refuseUnknown, shapeOf } from './infer-dims.ts';
import type { Dims, Op, Operand } from './op.ts';
import { formOf } from './op-form.ts';

/** Checks the inputs of a call and gives its dims. */
export function checkInputs(op: Op, inputs: DeviceArrays): Dims {
  const dims = inferDims(op, inputs);
  for (const name of formOf(op).inputs) expectDtype(op, name, op.inputs[name], inputs[name]);
  return dims;
}

/** Checks what a backward needs besides the inputs. */
export function checkSaved(
  op: Op,
  gradOutputs: DeviceArrays,
  outputs: DeviceArrays,
  dims: Dims,
): void {
  if (op.backward === undefined) {
    throw new UnsupportedError(
      `${op.id} has no backward. Do not differentiate through it, or detach its inputs.`,
    );
  }
  const form = formOf(op);
  refuseUnknown(op, 'output', form.outputs, outputs);
  refuseUnknown(op, 'differentiable output', form.differentiableOutputs, gradOutputs);
  for (const name of form.outputs) {
    const operand = op.outputs[name];
    const shape = shapeOf(operand, dims);
    const output = outputs[name];
    if (output === undefined) {
      throw new ShapeError(
        `${op.id}: output ${name} is missing. Pass the outputs of the forward to its backward.`,
      );
    }
    expectShape(op, `output ${name}`, output.shape, shape);
    expectDtype(op, name, operand, output);
    const gradient = gradOutputs[name];
    if (gradient !== undefined) {
      expectShape(op, `the gradient of ${name}`, gradient.shape, shape);
      expectDtype(op, `the gradient of ${name}`, operand, gradient);
    }
  }
}

/** The inputs whose gradients a backward computes, in declared order. */
export function wantedGradients(
  op: Op,
  inputs: DeviceArrays,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const present = formOf(op).differentiableInputs.filter((name) => inputs[name] !== undefined);
  for (const name of wanted ?? []) {
    if (!present.includes(name)) {
      throw new ShapeError(
        `${op.id}: cannot give a gradient for "${name}". ` +
          `The differentiable inputs of this call are: ${present.join(', ') || 'none'}.`,
      );
    }
  }
  return wanted === undefined ? present : present.filter((name) => wanted.includes(name));
}

/**
 * Element types of the outputs: that of the first activation (of the first weight if there is none)
 * where the output allows it, else its first.
 */
export function outputDtypes(
  op: Op,
  inputDtype: (name: string) => DType | undefined,
): Record<string, DType> {
  const form = formOf(op);
  let compute: DType | undefined;
  let ofWeight: DType | undefined;
  for (const name of form.inputs) {
    const dtype = inputDtype(name);
    if (dtype === 'i32') continue;
    if (op.inputs[name].weight === true) ofWeight ??= dtype;
    else compute ??= dtype;
  }
  compute ??= ofWeight;
  const dtypes: Record<string, DType> = {};
  for (const name of form.outputs) {
    const operand = op.outputs[name];
    const own = operand.inPlaceOf === undefined ? undefined : inputDtype(operand.inPlaceOf);
    const preferred = own ?? compute;
    const allowed = operand.dtypes;
    dtypes[name] =
      preferred !== undefined && allowed.includes(preferred) ? preferred : (allowed[0] as DType);
  }
  return dtypes;
}

function expectShape(op: Op, what: string, got: Shape, expected: Shape): void {
  if (!sameShape(got, expected)) {
    throw new ShapeError(
      `${op.id}: ${what} must be ${formatShape(expected)}, got ${formatShape(got)}. ` +
        'Pass the arrays of a single call.',
    );
  }
}

function expectDtype(op: Op, what: string, operand: Operand, array: DeviceArray | undefined): void {
  if (array !== undefined && !operand.dtypes.includes(array.view.dtype)) {
    const allowed = operand.dtypes.join(' or ');
    throw new DtypeError(
      `${op.id}: ${what} must be ${allowed}, got ${array.view.dtype}. ` +
        `Upload it as ${operand.dtypes[0]}.`,
    );
  }
}
