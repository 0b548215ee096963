/** The inputs of test and bench cases, from a seed. */
import { type DType, decode, encode, type Random, sizeOf } from '@saccade/core';
import { shapeOf } from './infer-dims.ts';
import type { Dims, Op, OpCase, Operand, StorageForm, Values } from './op.ts';

/**
 * Inputs of a case: its own indices, what the op's `sample` gives, standard normals for the rest.
 */
export function drawInputs(op: Op, opCase: OpCase, random: Random): Values {
  const sampled = op.sample?.(opCase.dims, random) ?? {};
  const inputs: Record<string, Values[string]> = {};
  for (const [name, operand] of Object.entries(op.inputs)) {
    if (opCase.without?.includes(name)) continue;
    inputs[name] =
      opCase.indices?.[name] ?? sampled[name] ?? drawNormals(operand, opCase.dims, random);
  }
  return inputs;
}

/** Standard normals in the shape of an operand. */
export function drawNormals(operand: Operand, dims: Dims, random: Random): Float64Array {
  // A loop: Float64Array.from with a function takes ten times as long.
  const normals = new Float64Array(sizeOf(shapeOf(operand, dims)));
  for (let i = 0; i < normals.length; i++) normals[i] = random.normal();
  return normals;
}

/** The storage type an operand has when the floats of a call are stored as `form`. */
export function dtypeOf(operand: Operand, form: StorageForm): DType {
  const dtype = form === 'mixed' && operand.weight === true ? 'bf16' : activationDtype(form);
  return operand.dtypes.includes(dtype) ? dtype : (operand.dtypes[0] as DType);
}

/** The storage type of activations in a form. */
export function activationDtype(form: StorageForm): DType {
  return form === 'mixed' ? 'f32' : form;
}

/** The values that remain after a round trip through `dtype`. */
export function roundTo(values: Values[string], dtype: DType): Values[string] {
  return values instanceof Int32Array ? values : decode(encode(values, dtype), dtype);
}

/** A one-line description of a case, for test names and messages. */
export function describeCase({ dims, scalars, without }: OpCase): string {
  const pairs = (values: Readonly<Record<string, number>>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ');
  const parts = [pairs(dims)];
  if (scalars !== undefined && Object.keys(scalars).length > 0) parts.push(pairs(scalars));
  if (without !== undefined && without.length > 0) parts.push(`without ${without.join(', ')}`);
  return parts.join('; ');
}
