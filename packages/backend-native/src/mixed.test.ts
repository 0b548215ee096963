/** Weights in bf16 beside activations in f32: the bits of the same weights in f32. */
import { type DType, decode, encode, randomAt } from '@saccade/core';
import { linearLogprob, linearSample } from '@saccade/logprob';
import {
  type DeviceArray,
  differentiableOutputs,
  hasWeights,
  type Op,
  openDevice,
  opsCatalog,
  shapeOf,
} from '@saccade/ops';
import { drawInputs, drawNormals, dtypeOf, firstDifference } from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

/** More than one block of depth, and remainders everywhere. */
const DIMS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  embedding: { V: 30, D: 50, E: 9, N: 70 },
  expertLinear: { R: 60, K: 401, E: 5, N: 70 },
  gemm: { M: 40, K: 801, N: 70 },
  layerNorm: { N: 40, D: 129 },
  linearLogprob: { N: 30, D: 400, V: 600 },
  linearSample: { N: 30, D: 400, V: 600, Q: 4 },
  rmsNorm: { N: 40, D: 129 },
};
const ops = [...opsCatalog, linearLogprob, linearSample].filter(hasWeights);

it('has a case for every op with weights', () => {
  expect(ops.map(({ id }) => id).sort()).toEqual(Object.keys(DIMS).sort());
});

describe.each([...native.instructionSets, ...native.emulated])('on %s', (isa) => {
  const device = openDevice(nativeBackend({ isa, threads: 2, poisonWorkspaces: true }));
  afterAll(() => device.dispose());

  /** All results, with weights of the same values stored as `weightDtype`. */
  async function run(op: Op, weightDtype: DType): Promise<Record<string, ArrayLike<number>>> {
    const dims = DIMS[op.id] ?? {};
    const random = randomAt(4, 'mixed', op.id);
    const inputs: Record<string, DeviceArray> = {};
    for (const [name, values] of Object.entries(drawInputs(op, { dims }, random))) {
      const operand = op.inputs[name];
      const isWeight = operand?.weight === true;
      const held = isWeight ? decode(encode(values, 'bf16'), 'bf16') : values;
      const dtype = isWeight ? weightDtype : dtypeOf(operand, 'f32');
      inputs[name] = device.upload(dtype, shapeOf(operand, dims), held);
    }
    const outputs = device.forward(op, inputs);
    const results = { ...outputs };
    if (op.backward !== undefined) {
      const gradOutputs = differentiableOutputs(op).map((name) => {
        const values = drawNormals(op.outputs[name], dims, random);
        return [name, device.upload('f32', outputs[name].shape, values)] as const;
      });
      const gradients = device.backward(op, Object.fromEntries(gradOutputs), inputs, outputs);
      for (const [name, array] of Object.entries(gradients)) results[`gradient of ${name}`] = array;
    }
    const read = Object.entries(results).map(async ([name, array]) => {
      expect(array.view.dtype).not.toBe('bf16');
      return [name, await device.read(array)] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  }

  it.each(ops.map((op) => [op.id, op] as const))('%s', async (_, op) => {
    const mixed = await run(op, 'bf16');
    for (const [name, values] of Object.entries(await run(op, 'f32'))) {
      expect([name, firstDifference(mixed[name] ?? [], values)]).toEqual([name, -1]);
    }
  });
});
