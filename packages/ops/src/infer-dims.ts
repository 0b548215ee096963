/** Infers the lengths of axes from the shapes of operands, with errors that name both sides. */
import { formatShape, type Shape, ShapeError } from '@saccade/core';
import type { Dims, Op, Operand } from './op.ts';
import { formOf } from './op-form.ts';

/** The shape of an operand. Axes that only absent operands have are 0. */
export function shapeOf(operand: Operand, dims: Dims): Shape {
  return operand.axes.map((axis) => dims[axis] ?? 0);
}

/**
 * Axis lengths of a call, from the shapes of the inputs that are present.
 *
 * An axis that only absent optional inputs have is 0, so every letter has a length.
 *
 * @param inputs  by name; `undefined` for an absent optional input
 * @returns       dims in the order of the op's form
 * @throws ShapeError if an input is missing, unknown or has another rank, or two axes disagree
 */
export function inferDims(op: Op, inputs: Shapes): Dims {
  const form = formOf(op);
  refuseUnknown(op, 'input', form.inputs, inputs);
  const dims: Record<string, number> = {};
  for (const name of form.inputs) {
    const { axes, optional } = op.inputs[name];
    const shape = inputs[name]?.shape;
    if (shape === undefined) {
      if (optional) continue;
      throw new ShapeError(`${op.id}: input ${name} is missing. Pass a ${listOf(axes)} array.`);
    }
    if (shape.length !== axes.length) {
      throw new ShapeError(
        `${op.id}: ${name} must be ${listOf(axes)}, got ${formatShape(shape)}. Reshape ${name}.`,
      );
    }
    for (let position = 0; position < axes.length; position++) {
      const axis = axes[position];
      const known = dims[axis];
      if (known === undefined) dims[axis] = shape[position];
      else if (known !== shape[position]) throw disagreement(op, name, axis, known, inputs);
    }
  }
  // A letter that only absent inputs have still stands in its place.
  let isComplete = true;
  for (const axis of form.axes) isComplete &&= dims[axis] !== undefined;
  const all = isComplete
    ? dims
    : Object.fromEntries(form.axes.map((axis) => [axis, dims[axis] ?? 0]));
  const problem = op.check?.(all);
  if (problem !== undefined) throw new ShapeError(`${op.id}: ${problem}`);
  return all;
}

type Shapes = Readonly<Record<string, { readonly shape: Shape } | undefined>>;

function listOf(axes: readonly string[]): string {
  return `[${axes.join(', ')}]`;
}

/** The error where the length of `axis` in input `name` differs from an earlier input's. */
function disagreement(op: Op, name: string, axis: string, known: number, inputs: Shapes) {
  const { axes } = op.inputs[name];
  const shape = inputs[name]?.shape ?? [];
  const first =
    formOf(op).inputs.find((other) => inputs[other] && op.inputs[other].axes.includes(axis)) ?? '';
  const firstShape = inputs[first]?.shape ?? [];
  return new ShapeError(
    `${op.id}: ${first} is ${formatShape(firstShape)}, ${name} is ${formatShape(shape)}; ` +
      `axis ${axis} is ${known} in ${first} but ${shape[axes.indexOf(axis)]} in ${name}. ` +
      `Pass ${name} as ${listOf(axes)} with ${axis} = ${known}.`,
  );
}

/** @throws ShapeError if `given` holds a name that is not in `known` */
export function refuseUnknown(
  op: Op,
  kind: string,
  known: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  for (const name in given) {
    if (given[name] !== undefined && !known.includes(name)) {
      const list = known.join(', ') || 'none';
      throw new ShapeError(`${op.id}: there is no ${kind} "${name}". Known: ${list}.`);
    }
  }
}
