/** Facts about an op that every call needs, computed once: orders of names, operands and axes. */
import type { Direction } from './backend.ts';
import { differentiableInputs, differentiableOutputs, type Op } from './op.ts';

/** One place in a launch's operand list: which role it has, and of which operand. */
export interface OperandSlot {
  readonly role: 'gradOutput' | 'input' | 'output' | 'gradInput';
  /** The operand's name. A gradient has the name of its operand. */
  readonly name: string;
}

/** The orders in which an op's names, axes and operands are passed to kernels. */
export interface OpForm {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly differentiableInputs: readonly string[];
  readonly differentiableOutputs: readonly string[];
  /** Axis letters as they first appear in inputs, then outputs: the order of kernel dims. */
  readonly axes: readonly string[];
  /** The operands of a launch in the order documented at `Launch`. */
  readonly order: Readonly<Record<Direction, readonly OperandSlot[]>>;
}

// Ops are constants; sampling from a small model calls some thousands of them per second.
const forms = new WeakMap<Op, OpForm>();

/** The orders of an op's names, axes and operands. Computed once per op object, then cached. */
export function formOf(op: Op): OpForm {
  let form = forms.get(op);
  if (form === undefined) {
    form = makeForm(op);
    forms.set(op, form);
  }
  return form;
}

function makeForm(op: Op): OpForm {
  const [inputs, outputs] = [Object.keys(op.inputs), Object.keys(op.outputs)];
  const gradInputs = differentiableInputs(op);
  const gradOutputs = differentiableOutputs(op);
  const axes = new Set<string>();
  for (const operand of [...Object.values(op.inputs), ...Object.values(op.outputs)]) {
    for (const axis of operand.axes) axes.add(axis);
  }
  const slots = (role: OperandSlot['role'], names: readonly string[]): OperandSlot[] =>
    names.map((name) => ({ role, name }));
  const forward = [...slots('input', inputs), ...slots('output', outputs)];
  const backward = [
    ...slots('gradOutput', gradOutputs),
    ...forward,
    ...slots('gradInput', gradInputs),
  ];
  return {
    inputs,
    outputs,
    differentiableInputs: gradInputs,
    differentiableOutputs: gradOutputs,
    axes: [...axes],
    order: { forward, backward },
  };
}
