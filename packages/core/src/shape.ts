/** Shapes are plain arrays of axis lengths, row-major, last axis contiguous. */
import { ShapeError } from './errors.ts';

export type Shape = readonly number[];

/** Number of elements. */
export function sizeOf(shape: Shape): number {
  let size = 1;
  for (const length of shape) size *= length;
  return size;
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((length, axis) => length === b[axis]);
}

/** `[2, 3]`, as it stands in messages. */
export function formatShape(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}

/** @throws ShapeError if `length` is not `expected` */
export function expectLength(what: string, length: number, expected: number): void {
  if (length !== expected) {
    throw new ShapeError(`${what} must have length ${expected}, got ${length}.`);
  }
}
