/** Stacks of matrices that files keep transposed: the experts of some checkpoints. */
import { type Shape, sameShape, type TypedArray } from '@saccade/core';

/** [..., N, K] → [..., K, N]. */
export function transposedShape(shape: Shape): Shape {
  const [rows = 1, columns = 1] = shape.slice(-2);
  return [...shape.slice(0, -2), columns, rows];
}

/**
 * True where a file has the transposed matrices of a shape. Square ones have no way to tell: they
 * count as they are, as in transformers 5.
 */
export function isStoredTransposed(stored: Shape, shape: Shape): boolean {
  return !sameShape(stored, shape) && sameShape(stored, transposedShape(shape));
}

/** Whether matrices of a shape are written transposed in new files; square ones would be misread. */
export function writesTransposed(shape: Shape): boolean {
  return shape.length > 1 && !sameShape(shape, transposedShape(shape));
}

/** One matrix [rows, columns], transposed, in the same element type. */
export function transpose(matrix: TypedArray, rows: number, columns: number): TypedArray {
  const turned = matrix.slice();
  for (let row = 0; row < rows; row++) {
    const first = row * columns;
    for (let column = 0; column < columns; column++) {
      turned[column * rows + row] = matrix[first + column] as number;
    }
  }
  return turned;
}
