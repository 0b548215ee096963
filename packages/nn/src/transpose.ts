/** Matrices whose rows and columns change places on their way between files and a device. */
import { type Shape, ShapeError } from '@saccade/core';

/** A shape with its last two axes exchanged. */
export function transposedShape(shape: Shape): Shape {
  const [rows, columns] = lastAxes(shape);
  return [...shape.slice(0, -2), columns, rows];
}

/** Elements of one matrix of a stack [.., rows, columns]. */
export function matrixSize(shape: Shape): number {
  const [rows, columns] = lastAxes(shape);
  return rows * columns;
}

/** The bytes of the transpose of a matrix [rows, columns] of elements of `size` bytes. */
export function transposeBytes(
  bytes: Uint8Array,
  [rows, columns]: readonly [number, number],
  size: number,
): Uint8Array {
  const transposed = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const from = (row * columns + column) * size;
      const to = (column * rows + row) * size;
      for (let byte = 0; byte < size; byte++) transposed[to + byte] = bytes[from + byte] as number;
    }
  }
  return transposed;
}

/** @throws ShapeError if there are fewer than two axes */
export function lastAxes(shape: Shape): readonly [rows: number, columns: number] {
  const [rows, columns] = shape.slice(-2);
  if (rows !== undefined && columns !== undefined) return [rows, columns];
  throw new ShapeError('Only matrices can be transposed. Describe the tensor with two axes.');
}
