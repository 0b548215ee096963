/** Which kernel of the addon runs an op, and in what form it takes the op's dims and scalars. */
import { type DType, StateError } from '@saccade/core';
import type { Runtime, Storage } from '@saccade/native';
import { type Direction, formOf, type Op, type OperandSlot } from '@saccade/ops';
import { kindOf, signatureOf } from './signature.ts';

export interface KernelBinding {
  /** Index of the kernel in the addon. */
  readonly kernel: number;
  /** Axis letters and scalar names in the order the kernel takes their values. */
  readonly axes: readonly string[];
  readonly scalars: readonly string[];
  readonly operands: Readonly<Record<Direction, readonly StoredOperand[]>>;
  /** The types its `stored` operands may have; none where it has no such direction. */
  readonly storages: Readonly<Record<Direction, readonly Storage[]>>;
}

/** An operand of a launch and the type the kernel reads it as. */
export interface StoredOperand {
  /** As messages call it. */
  readonly name: string;
  readonly kind: 'i32' | 'f32' | 'stored';
}

export class KernelTable {
  readonly #kernels: ReturnType<Runtime['kernels']>;
  readonly #bindings = new Map<Op, KernelBinding | string>();

  constructor(runtime: Runtime) {
    this.#kernels = runtime.kernels();
  }

  /** The binding of an op that can run in this direction, else one sentence why it cannot. */
  find(op: Op, direction: Direction): KernelBinding | string {
    let binding = this.#bindings.get(op);
    if (binding === undefined) {
      binding = this.#bind(op);
      this.#bindings.set(op, binding);
    }
    if (typeof binding === 'string') return binding;
    if (binding.storages[direction].length === 0) return `${op.id} has no backward.`;
    return binding;
  }

  #bind(op: Op): KernelBinding | string {
    const kernel = this.#kernels.findIndex(({ id }) => id === op.id);
    const info = this.#kernels[kernel];
    if (info === undefined) return `no kernel ${op.id} is built into the addon.`;
    const declared = signatureOf(op);
    if (info.signature !== declared) {
      return (
        `the kernel ${op.id} is built for "${info.signature}", the op declares "${declared}"; ` +
        'the addon is older or newer than the packages.'
      );
    }
    return {
      kernel,
      axes: formOf(op).axes,
      scalars: Object.keys(op.scalars),
      operands: {
        forward: storedOperands(op, 'forward'),
        backward: storedOperands(op, 'backward'),
      },
      storages: info,
    };
  }
}

/**
 * What is wrong with the operands' types, in one sentence, or `undefined`.
 *
 * @param dtypes  of the operands in launch order, `undefined` where one is absent
 */
export function refuseDtypes(
  { operands, storages }: KernelBinding,
  direction: Direction,
  dtypes: readonly (DType | undefined)[],
): string | undefined {
  const [slots, allowed] = [operands[direction], storages[direction]];
  let first: { readonly name: string; readonly dtype: DType } | undefined;
  // Plain loops: launches are checked some thousands of times per second.
  for (let position = 0; position < slots.length; position++) {
    const slot = slots[position];
    const dtype = dtypes[position];
    if (slot === undefined || dtype === undefined || dtype === slot.kind) continue;
    const { name, kind } = slot;
    if (kind !== 'stored') return `${name} is ${dtype}; the kernel takes ${kind}.`;
    if (!allowed.some((storage) => storage === dtype)) {
      return `${name} is ${dtype}; the kernel takes ${allowed.join(' or ')}.`;
    }
    first ??= { name, dtype };
    if (first.dtype !== dtype) {
      return (
        `${name} is ${dtype}, ${first.name} is ${first.dtype}; ` +
        'the kernel takes both in the same type.'
      );
    }
  }
  return undefined;
}

/** The type of a launch's `stored` operands; f32 where it has none. */
export function storageOf(
  { operands }: KernelBinding,
  direction: Direction,
  views: readonly ({ readonly dtype: DType } | undefined)[],
): DType {
  const slots = operands[direction];
  for (let position = 0; position < slots.length; position++) {
    const view = views[position];
    if (view !== undefined && slots[position]?.kind === 'stored') return view.dtype;
  }
  return 'f32';
}

function storedOperands(op: Op, direction: Direction): readonly StoredOperand[] {
  return formOf(op).order[direction].map((slot) => ({
    name: describe(slot),
    kind: kind(op, slot),
  }));
}

function kind(op: Op, { role, name }: OperandSlot): StoredOperand['kind'] {
  const isInput = role === 'input' || role === 'gradInput';
  const operand = isInput ? op.inputs[name] : op.outputs[name];
  if (operand === undefined) throw new StateError(`${op.id} has no operand ${name}.`);
  return role === 'gradInput' && operand.gradDtype === 'f32' ? 'f32' : kindOf(operand);
}

function describe({ role, name }: OperandSlot): string {
  return role === 'gradInput' || role === 'gradOutput' ? `the gradient of ${name}` : name;
}
