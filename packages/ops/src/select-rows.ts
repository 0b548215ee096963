/** Makes parts of problems with independent rows: some rows, in another order. */
import { type Random, sizeOf } from '@saccade/core';
import { shapeOf } from './infer-dims.ts';
import type { Dims, Op, Operand, Part, Values } from './op.ts';

/**
 * A random selection of rows along `axis`, shuffled; operands without the axis are taken whole.
 *
 * For ops whose result's rows each depend only on the same row of the inputs.
 */
export function selectRows(op: Op, axis: string, inputs: Values, dims: Dims, random: Random): Part {
  const length = dims[axis];
  const all = Array.from({ length }, (_, row) => row);
  const rows = random.shuffle(all).slice(0, 1 + random.integer(length));
  const indices: Record<string, Int32Array> = {};
  const sources: Record<string, Int32Array> = {};
  for (const [name, operand] of Object.entries(op.inputs)) {
    const value: Values[string] | undefined = inputs[name];
    if (value === undefined) continue;
    const elements = elementsOf(operand, axis, rows, dims);
    if (value instanceof Int32Array) indices[name] = elements.map((element) => value[element]);
    else sources[name] = elements;
  }
  const outputs: Record<string, Int32Array> = {};
  for (const [name, operand] of Object.entries(op.outputs)) {
    outputs[name] = elementsOf(operand, axis, rows, dims);
  }
  return { dims: { ...dims, [axis]: rows.length }, indices, inputs: sources, outputs };
}

/** Flat indices of an operand's elements whose coordinate on `axis` is one of `rows`. */
function elementsOf(
  operand: Operand,
  axis: string,
  rows: readonly number[],
  dims: Dims,
): Int32Array {
  const shape = shapeOf(operand, dims);
  const position = operand.axes.indexOf(axis);
  if (position < 0) return Int32Array.from({ length: sizeOf(shape) }, (_, i) => i);
  const outer = sizeOf(shape.slice(0, position));
  const inner = sizeOf(shape.slice(position + 1));
  const elements = new Int32Array(outer * rows.length * inner);
  let next = 0;
  for (let o = 0; o < outer; o++) {
    for (const row of rows) {
      for (let i = 0; i < inner; i++) elements[next++] = (o * dims[axis] + row) * inner + i;
    }
  }
  return elements;
}
