/** Which operand stands where in a launch: the one place that knows the order. */
import type { Direction } from './backend.ts';
import { differentiableInputs, differentiableOutputs, type Op } from './op.ts';

export interface OperandSlot {
  readonly role: 'gradOutput' | 'input' | 'output' | 'gradInput';
  /** The operand's name; a gradient has the name of what it is the gradient of. */
  readonly name: string;
}

/** The operands of a launch in the order documented at `Launch`. */
export function operandOrder(op: Op, direction: Direction): readonly OperandSlot[] {
  const slots = (role: OperandSlot['role'], names: readonly string[]): OperandSlot[] =>
    names.map((name) => ({ role, name }));
  const own = [
    ...slots('input', Object.keys(op.inputs)),
    ...slots('output', Object.keys(op.outputs)),
  ];
  if (direction === 'forward') return own;
  return [
    ...slots('gradOutput', differentiableOutputs(op)),
    ...own,
    ...slots('gradInput', differentiableInputs(op)),
  ];
}
