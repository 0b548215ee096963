/** Tensors of the wire: Tinker's `TensorData` in JSON, or references into a safetensors body. */
import { DataError, sizeOf } from '@saccade/core';
import { z } from '@saccade/core/settings';
import type { NamedArray } from '@saccade/nn';

/** A tensor of a request or an answer, whatever form it travels in. */
export type WireTensor = NamedArray;

/** The key of a reference into the tensors of a binary body. */
export const REFERENCE = '$tensor';

const MOST_ELEMENTS = 2 ** 28;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** Whether a value is a tensor in memory. */
export function isWireTensor(value: unknown): value is WireTensor {
  if (typeof value !== 'object' || value === null) return false;
  const { data } = value as Partial<WireTensor>;
  return data instanceof Float32Array || data instanceof Int32Array;
}

export function floats(data: Float32Array): WireTensor {
  return { dtype: 'f32', shape: [data.length], data };
}

export function integers(data: Int32Array): WireTensor {
  return { dtype: 'i32', shape: [data.length], data };
}

const tensorData = z
  .looseObject({
    // JSON has no NaN: servers write null.
    data: z.array(z.number().nullable()).max(MOST_ELEMENTS),
    dtype: z.enum(['int64', 'int32', 'float32']).default('float32'),
    shape: z.array(z.number().int().min(0)).nullish(),
  })
  .transform(({ data, dtype, shape }, context): WireTensor => {
    const own = shape ?? [data.length];
    if (sizeOf(own) !== data.length) {
      context.addIssue(`its shape has ${sizeOf(own)} elements and its data ${data.length}`);
      return z.NEVER;
    }
    if (dtype === 'float32') {
      return { dtype: 'f32', shape: own, data: Float32Array.from(data, (x) => x ?? Number.NaN) };
    }
    const wrong = data.find((x) => !Number.isInteger(x) || !isInt32(x as number));
    if (wrong !== undefined) {
      context.addIssue(`${wrong} is not a whole number of 32 bits`);
      return z.NEVER;
    }
    return { dtype: 'i32', shape: own, data: Int32Array.from(data as number[]) };
  });

function isInt32(value: number): boolean {
  return value >= INT32_MIN && value <= INT32_MAX;
}

/** A tensor in a body: `TensorData`, or what a binary body had in its place. */
const wireTensor = z.union([
  z.custom<WireTensor>(isWireTensor, 'expected a tensor: {data, dtype, shape}'),
  tensorData,
]);

/** A tensor of floats. */
export const floatTensor = wireTensor.transform(({ data }) =>
  data instanceof Float32Array ? data : Float32Array.from(data),
);

/** A tensor of whole numbers. */
export const integerTensor = wireTensor.transform((tensor, context): Int32Array => {
  const { data } = tensor;
  if (data instanceof Int32Array) return data;
  if (data.every((value) => Number.isInteger(value) && isInt32(value)))
    return Int32Array.from(data);
  context.addIssue('expected whole numbers of 32 bits');
  return z.NEVER;
});

/** `TensorData` of a tensor. */
export function tensorDataOf({ dtype, shape, data }: WireTensor): object {
  return { data: Array.from(data), dtype: dtype === 'f32' ? 'float32' : 'int64', shape };
}

/** A copy of a JSON tree in which `replace` takes the place of tensors and references. */
export function mapTree(value: unknown, replace: (node: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const replaced = replace(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((one) => mapTree(one, replace));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([key, one]) => [key, mapTree(one, replace)]),
  );
}

/** The tensor that a reference names. @throws DataError if there is none */
export function resolveReference(
  node: object,
  arrays: ReadonlyMap<string, WireTensor>,
): WireTensor | undefined {
  if (!Object.hasOwn(node, REFERENCE)) return undefined;
  const name = String((node as Record<string, unknown>)[REFERENCE]);
  const found = arrays.get(name);
  if (found !== undefined) return found;
  throw new DataError(`The body refers to a tensor "${name}", which it does not have.`);
}
