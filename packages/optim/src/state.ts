/** The state of an optimizer: named numbers and tensors, so that every optimizer is saved alike. */
import { DataError, formatShape, type Shape, StateError, sameShape } from '@saccade/core';
import type { Tensor } from '@saccade/tensor';

/** The state that an optimizer keeps between updates. */
export interface OptimizerState {
  /** Counts, such as `step`. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Moments and other tensors, by kind and parameter: `m.lm_head.weight`. */
  readonly tensors: Readonly<Record<string, Tensor>>;
}

/** A host array as safetensors files hold it. */
export interface StateArray {
  readonly dtype: 'f32' | 'i32';
  readonly shape: Shape;
  readonly data: Float32Array | Int32Array;
}

/** A state on the host: `numbers` for a JSON file, `arrays` for a safetensors file. */
export interface SavedState {
  readonly numbers: Readonly<Record<string, number>>;
  readonly arrays: ReadonlyMap<string, StateArray>;
}

/** The state of a transformation that keeps nothing. */
export const emptyState: OptimizerState = Object.freeze({ numbers: {}, tensors: {} });

/** Copies a state to the host. */
export async function exportState({ numbers, tensors }: OptimizerState): Promise<SavedState> {
  const arrays = new Map<string, StateArray>();
  for (const [name, tensor] of Object.entries(tensors)) {
    const dtype = tensor.dtype === 'i32' ? 'i32' : 'f32';
    const data = (await tensor.read()) as StateArray['data'];
    arrays.set(name, { dtype, shape: tensor.shape, data });
  }
  return { numbers, arrays };
}

/**
 * The inverse of `exportState`: later updates have the same bits as without the interruption.
 *
 * @param fresh  the state of `init` for the same parameters; belongs to this call, which overwrites
 *               it, or frees it where it throws
 * @throws DataError naming the first entry that is missing, unknown, or of another shape or type
 */
export function importState(fresh: OptimizerState, saved: SavedState): OptimizerState {
  try {
    expectSame(fresh, saved);
    for (const [name, tensor] of Object.entries(fresh.tensors)) {
      tensor.write(saved.arrays.get(name)?.data ?? []);
    }
    return { numbers: { ...saved.numbers }, tensors: fresh.tensors };
  } catch (error) {
    disposeState(fresh);
    throw error;
  }
}

/** Frees the tensors of a state. Idempotent. */
export function disposeState({ tensors }: OptimizerState): void {
  for (const tensor of Object.values(tensors)) tensor.dispose();
}

/** @throws StateError if the state lacks the tensor */
export function stateTensor({ tensors }: OptimizerState, key: string): Tensor {
  const tensor = tensors[key];
  if (tensor !== undefined) return tensor;
  throw new StateError(
    `The optimizer state has no "${key}". Make it with init of all parameters that train.`,
  );
}

/** @throws StateError if the state lacks the number */
export function stateNumber({ numbers }: OptimizerState, key: string): number {
  const number = numbers[key];
  if (number !== undefined) return number;
  throw new StateError(`The optimizer state has no number "${key}". Make it with init.`);
}

function expectSame(fresh: OptimizerState, saved: SavedState): void {
  const remedy = 'Load a state that the same optimizer saved with these parameters.';
  for (const name of Object.keys(fresh.numbers)) {
    if (Number.isFinite(saved.numbers[name])) continue;
    throw new DataError(
      `The optimizer state must have the number "${name}", got ${saved.numbers[name] ?? 'none'}. ` +
        remedy,
    );
  }
  for (const [name, { shape, dtype }] of Object.entries(fresh.tensors)) {
    const array = saved.arrays.get(name);
    const isFitting = array !== undefined && sameShape(array.shape, shape) && array.dtype === dtype;
    if (isFitting) continue;
    const got = array === undefined ? 'none' : `${array.dtype} ${formatShape(array.shape)}`;
    throw new DataError(
      `The optimizer state must have "${name}" as ${dtype} ${formatShape(shape)}, got ${got}. ` +
        remedy,
    );
  }
  const unknown =
    Object.keys(saved.numbers).find((name) => !(name in fresh.numbers)) ??
    [...saved.arrays.keys()].find((name) => !(name in fresh.tensors));
  if (unknown !== undefined) {
    throw new DataError(
      `The optimizer state has "${unknown}", which this optimizer does not keep for these ` +
        `parameters. ${remedy}`,
    );
  }
}
