/** An op's declaration in the grammar that kernels state theirs in, so the two can be compared. */
import type { Op, Operand, OutputOperand } from './op.ts';

/**
 * The signature of an op: `x[M,K]' w[N,K]+~ b[N]+~? -> y[M,N]'`, then `; eps` where it has scalars.
 *
 * The grammar is that of kernels/include/kernel.h: ' differentiable, + differentiable with a
 * float32 gradient, ~ a weight, ? optional, # int32, ! float32 in any storage, =input for an output
 * in the input's memory.
 */
export function signatureOf(op: Op): string {
  const write = (operands: Readonly<Record<string, Operand | OutputOperand>>): string =>
    Object.entries(operands)
      .map(([name, operand]) => `${name}[${operand.axes.join(',')}]${marksOf(operand)}`)
      .join(' ');
  const scalars = Object.keys(op.scalars).join(' ');
  return `${write(op.inputs)} -> ${write(op.outputs)}${scalars === '' ? '' : ` ; ${scalars}`}`;
}

function marksOf(operand: Operand & { readonly inPlaceOf?: string }): string {
  const gradient = operand.gradDtype === 'f32' ? '+' : "'";
  return (
    (operand.grad === true ? gradient : '') +
    (operand.weight === true ? '~' : '') +
    (operand.optional === true ? '?' : '') +
    { i32: '#', f32: '!', stored: '' }[kindOf(operand)] +
    (operand.inPlaceOf === undefined ? '' : `=${operand.inPlaceOf}`)
  );
}

/** Storage of an operand in a launch: always i32, always f32, or the storage type of the launch. */
export type OperandKind = 'i32' | 'f32' | 'stored';

/**
 * The kind of an operand: `i32` for indices, `f32` for operands that never have 16 bits, `stored`
 * for the rest, which have the launch's storage type.
 */
export function kindOf({ dtypes }: Operand): OperandKind {
  if (dtypes.every((dtype) => dtype === 'i32')) return 'i32';
  return dtypes.includes('bf16') ? 'stored' : 'f32';
}
