/** The operands of a launch as kernels take them: their kinds, and checks of their types. */
import { bytesOf, type DType, ShapeError, StateError } from '@saccade/core';
import type { BufferView, Direction } from './backend.ts';
import type { Dims, Op, StorageForm } from './op.ts';
import { formOf, type OperandSlot } from './op-form.ts';
import { kindOf, type OperandKind } from './signature.ts';

/** An operand of a launch and the type the kernel reads it as. */
export interface LaunchedOperand extends OperandSlot {
  /** Its name in messages: `the gradient of x`. */
  readonly label: string;
  readonly kind: OperandKind;
  /** True for a `stored` operand that is bf16 in a launch of mixed storage. */
  readonly isWeight: boolean;
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
    const kind = isWide ? 'f32' : kindOf(operand);
    return {
      ...slot,
      label: isGradient ? `the gradient of ${name}` : name,
      kind,
      isWeight: kind === 'stored' && operand.weight === true,
      axes: operand.axes,
    };
  });
}

interface TypedOperand {
  readonly label: string;
  readonly dtype: DType;
}

/**
 * One sentence with what is wrong with the operands' types, or `undefined`.
 *
 * @param allowed  the forms in which `stored` operands may be: all of one type, or `mixed`
 * @param dtypes   of the operands in launch order, `undefined` where one is absent
 */
export function refuseDtypes(
  operands: readonly LaunchedOperand[],
  allowed: readonly StorageForm[],
  dtypes: readonly (DType | undefined)[],
): string | undefined {
  let first: TypedOperand | undefined;
  let weight: TypedOperand | undefined;
  // Plain loops: launches are checked some thousands of times per second.
  for (let position = 0; position < operands.length; position++) {
    const operand = operands[position];
    const dtype = dtypes[position];
    if (operand === undefined || dtype === undefined || dtype === operand.kind) continue;
    const { label, kind, isWeight } = operand;
    if (kind !== 'stored') return `${label} is ${dtype}; the kernel takes ${kind}.`;
    if (isWeight) weight ??= { label, dtype };
    else first ??= { label, dtype };
    const same = isWeight ? weight : first;
    if (same !== undefined && same.dtype !== dtype) return refuseBoth({ label, dtype }, same);
  }
  if (first !== undefined && weight !== undefined && first.dtype !== weight.dtype) {
    const isMixed = first.dtype === 'f32' && weight.dtype === 'bf16';
    return isMixed && allowed.includes('mixed') ? undefined : refuseBoth(weight, first);
  }
  const all = first ?? weight;
  if (all === undefined || allowed.includes(all.dtype)) return undefined;
  const types = allowed.filter((form) => form !== 'mixed').join(' or ');
  return `${all.label} is ${all.dtype}; the kernel takes ${types}.`;
}

function refuseBoth(one: TypedOperand, other: TypedOperand): string {
  return (
    `${one.label} is ${one.dtype}, ${other.label} is ${other.dtype}; ` +
    'the kernel takes both in the same type.'
  );
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

/** How a launch's `stored` operands are stored; f32 where it has none. */
export function storageOf(
  operands: readonly LaunchedOperand[],
  views: readonly ({ readonly dtype: DType } | undefined)[],
): StorageForm {
  let activation: DType | undefined;
  let weight: DType | undefined;
  for (let position = 0; position < operands.length; position++) {
    const view = views[position];
    const operand = operands[position];
    if (view === undefined || operand?.kind !== 'stored') continue;
    if (operand.isWeight) weight ??= view.dtype;
    else activation ??= view.dtype;
  }
  if (activation === 'f32' && weight === 'bf16') return 'mixed';
  return activation ?? weight ?? 'f32';
}
