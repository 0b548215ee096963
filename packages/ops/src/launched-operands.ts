/** The operands of a launch as kernels take them: their kinds, and checks of their types. */
import { bytesOf, type DType, ShapeError, StateError } from '@saccade/core';
import type { BufferView, Direction } from './backend.ts';
import type { Dims, Op } from './op.ts';
import { formOf, type OperandSlot } from './op-form.ts';
import { kindOf, type OperandKind } from './signature.ts';

/** An operand of a launch and the type the kernel reads it as. */
export interface LaunchedOperand extends OperandSlot {
  /** Its name in messages: `the gradient of x`. */
  readonly label: string;
  readonly kind: OperandKind;
  /** Axis letters, outermost first. */
  readonly axes: readonly string[];
}

/** The operands in launch order. */
export function launchedOperands(op: Op, direction: Direction): readonly LaunchedOperand[] {
  return formOf(op).order[direction].map((slot) => {
    const { role, name } = slot;
    const isInput = role === 'input' || role === 'gradInput';
    const operand = isInput ? op.inputs[name] : op.outputs[name];
    if (operand === undefined) throw new StateError(`${op.id} has no operand ${name}.`);
    const isWide = role === 'gradInput' && operand.gradDtype === 'f32';
    const isGradient = role === 'gradInput' || role === 'gradOutput';
    return {
      ...slot,
      label: isGradient ? `the gradient of ${name}` : name,
      kind: isWide ? 'f32' : kindOf(operand),
      axes: operand.axes,
    };
  });
}

/**
 * One sentence with what is wrong with the operands' types, or `undefined`.
 *
 * @param allowed  the types that `stored` operands may have; within a launch all have the same
 * @param dtypes   of the operands in launch order, `undefined` where one is absent
 */
export function refuseDtypes(
  operands: readonly LaunchedOperand[],
  allowed: readonly DType[],
  dtypes: readonly (DType | undefined)[],
): string | undefined {
  let first: { readonly label: string; readonly dtype: DType } | undefined;
  // Plain loops: launches are checked some thousands of times per second.
  for (let position = 0; position < operands.length; position++) {
    const operand = operands[position];
    const dtype = dtypes[position];
    if (operand === undefined || dtype === undefined || dtype === operand.kind) continue;
    const { label, kind } = operand;
    if (kind !== 'stored') return `${label} is ${dtype}; the kernel takes ${kind}.`;
    if (!allowed.includes(dtype)) {
      return `${label} is ${dtype}; the kernel takes ${allowed.join(' or ')}.`;
    }
    first ??= { label, dtype };
    if (first.dtype !== dtype) {
      return (
        `${label} is ${dtype}, ${first.label} is ${first.dtype}; ` +
        'the kernel takes both in the same type.'
      );
    }
  }
  return undefined;
}

/** @throws ShapeError  if a view does not have the elements that a launch of these dims needs */
export function checkLength(
  op: Op,
  { label, axes }: LaunchedOperand,
  { dtype, length }: BufferView,
  dims: Dims,
): void {
  const expected = axes.reduce((size, axis) => size * (dims[axis] ?? 0), 1);
  if (length === expected) return;
  const size = bytesOf(dtype);
  throw new ShapeError(
    `${op.id}: ${label} needs ${expected * size} bytes ([${axes.join(', ')}] of ${dtype}), ` +
      `got ${length * size}. Pass an array of the call's dims.`,
  );
}

/** The type of a launch's `stored` operands; f32 where it has none. */
export function storageOf(
  operands: readonly LaunchedOperand[],
  views: readonly ({ readonly dtype: DType } | undefined)[],
): DType {
  for (let position = 0; position < operands.length; position++) {
    const view = views[position];
    if (view !== undefined && operands[position]?.kind === 'stored') return view.dtype;
  }
  return 'f32';
}
