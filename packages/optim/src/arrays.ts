/** Elementwise steps on tensors of any shape, in place. */
import { axpby, sign as signOp } from '@saccade/ops';
import { adopt, apply, type Tensor } from '@saccade/tensor';
import type { Tensors } from './transformation.ts';

/** The same elements as a vector. */
export function flat(tensor: Tensor): Tensor {
  return tensor.reshape([tensor.size]);
}

/** y ← a·x + b·y; y is not read where b is 0. */
export function blend(x: Tensor, y: Tensor, a: number, b: number): void {
  apply(axpby, { x: flat(x), y: flat(y) }, { a, b });
}

/** x ← a·x */
export function scale(x: Tensor, a: number): void {
  apply(axpby, { y: flat(x) }, { b: a });
}

/** x ← sign(x) */
export function takeSign(x: Tensor): void {
  apply(signOp, { x: flat(x) });
}

/** Uninitialized memory of the same device and shape. */
export function emptyLike({ device, shape }: Tensor): Tensor {
  return adopt(device, device.alloc('f32', shape));
}

/** Zeros of the same device and shape, made there; the caller frees them. */
export function zerosLike(x: Tensor): Tensor {
  const made = emptyLike(x);
  scale(made, 0);
  return made;
}

/** A tensor with the same elements; the caller frees it. */
export function copyOf(x: Tensor): Tensor {
  const copy = emptyLike(x);
  blend(x, copy, 1, 0);
  return copy;
}

/** Zeros for every parameter, as a part of a state: `m.<name>`. */
export function zerosFor(key: string, parameters: Tensors): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, parameter]) => [`${key}.${name}`, zerosLike(parameter)]),
  );
}

/** True of a matrix: not of a norm's weight, a bias, or a matrix of one row or column. */
export function isMatrix({ shape }: Tensor): boolean {
  return shape.length === 2 && shape.every((length) => length > 1);
}
