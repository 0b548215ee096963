/** Shapes are plain arrays of axis lengths, row-major, last axis contiguous. */
import { ShapeError } from './errors.ts';

/**
 * Axis lengths, outermost first. Arrays are row-major and contiguous; `[]` is a scalar with one
 * element.
 */
export type Shape = readonly number[];

/** Number of elements of a shape: the product of its lengths, 1 for `[]`. */
export function sizeOf(shape: Shape): number {
  let size = 1;
  for (const length of shape) size *= length;
  return size;
}

/**
 * Whether two shapes have the same rank and lengths. Nothing is broadcast: `[1, 3]` is not `[3]`.
 */
export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((length, axis) => length === b[axis]);
}

/** Formats a shape for a message: `[2, 3]`. */
export function formatShape(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}

/** @throws ShapeError if `length` is not `expected` */
export function expectLength(what: string, length: number, expected: number): void {
  if (length !== expected) {
    throw new ShapeError(`${what} must have length ${expected}, got ${length}.`);
  }
}
