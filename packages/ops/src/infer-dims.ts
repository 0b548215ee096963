/** From the shapes of the operands to the lengths of the axes, with errors that name both sides. */
import { formatShape, type Shape, ShapeError } from '@saccade/core';
import type { Dims, Op, Operand } from './op.ts';

/** Axis letters as they first appear in inputs, then outputs: the order of kernel dims. */
export function axisOrder(op: Op): readonly string[] {
  const letters = new Set<string>();
  for (const operand of [...Object.values(op.inputs), ...Object.values(op.outputs)]) {
    for (const axis of operand.axes) letters.add(axis);
  }
  return [...letters];
}

/** The shape of an operand. Axes that only absent operands have are 0. */
export function shapeOf(operand: Operand, dims: Dims): Shape {
  return operand.axes.map((axis) => dims[axis] ?? 0);
}

/**
 * Axis lengths of a call, from the shapes of the inputs that are present.
 *
 * An axis that only absent optional inputs have is 0, so every letter has a length.
 *
 * @param shapes  by input name; `undefined` for an absent optional input
 * @returns       dims in {@link axisOrder}
 * @throws ShapeError if an input is missing, unknown or has another rank, or two axes disagree
 */
export function inferDims(op: Op, shapes: Readonly<Record<string, Shape | undefined>>): Dims {
  refuseUnknown(op, 'input', Object.keys(op.inputs), shapes);
  const lengths = new Map<string, { length: number; from: string; shape: Shape }>();
  for (const [name, operand] of Object.entries(op.inputs)) {
    const axes = `[${operand.axes.join(', ')}]`;
    const shape = shapes[name];
    if (shape === undefined) {
      if (operand.optional) continue;
      throw new ShapeError(`${op.id}: input ${name} is missing. Pass a ${axes} array.`);
    }
    if (shape.length !== operand.axes.length) {
      throw new ShapeError(
        `${op.id}: ${name} must be ${axes}, got ${formatShape(shape)}. Reshape ${name}.`,
      );
    }
    operand.axes.forEach((axis, position) => {
      const length = shape[position] as number;
      const known = lengths.get(axis);
      if (known === undefined) {
        lengths.set(axis, { length, from: name, shape });
      } else if (known.length !== length) {
        throw new ShapeError(
          `${op.id}: ${known.from} is ${formatShape(known.shape)}, ${name} is ` +
            `${formatShape(shape)}; axis ${axis} is ${known.length} in ${known.from} but ` +
            `${length} in ${name}. Pass ${name} as ${axes} with ${axis} = ${known.length}.`,
        );
      }
    });
  }
  const dims: Record<string, number> = {};
  for (const axis of axisOrder(op)) dims[axis] = lengths.get(axis)?.length ?? 0;
  const problem = op.check?.(dims);
  if (problem !== undefined) throw new ShapeError(`${op.id}: ${problem}`);
  return dims;
}

/** @throws ShapeError if `given` holds a name that is not in `known` */
export function refuseUnknown(
  op: Op,
  kind: string,
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const name of Object.keys(given)) {
    if (given[name] !== undefined && !known.includes(name)) {
      const list = known.join(', ') || 'none';
      throw new ShapeError(`${op.id}: there is no ${kind} "${name}". Known: ${list}.`);
    }
  }
}
