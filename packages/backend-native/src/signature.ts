/** An op's declaration in the grammar that kernels state theirs in, so the two can be compared. */
import type { Op, Operand, OutputOperand } from '@saccade/ops';

/**
 * The signature of an op: `x[M,K]' w[N,K]' b[N]'? -> y[M,N]'`, then `; eps` where it has scalars.
 *
 * The grammar is that of kernels/include/kernel.h: ' differentiable, ? optional, # int32,
 * =input for an output in the input's memory.
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
  const isIndex = operand.dtypes.every((dtype) => dtype === 'i32');
  return (
    (operand.grad === true ? "'" : '') +
    (operand.optional === true ? '?' : '') +
    (isIndex ? '#' : '') +
    (operand.inPlaceOf === undefined ? '' : `=${operand.inPlaceOf}`)
  );
}
