/** Bit-equality: on repetition, alone and in a batch, and next to a sequence that is all NaN. */
import { randomAt } from '@saccade/core';
import { firstDifference } from './compare.ts';
import { type Bench, guardedBench } from './compare-with-oracle.ts';
import { ContractError } from './contract-error.ts';
import type { Device } from './device.ts';
import type { DeviceArray } from './device-array.ts';
import { describeCase, drawInputs, drawNormals, dtypeOf, roundTo } from './draw-inputs.ts';
import {
  type Dims,
  differentiableOutputs,
  type Op,
  type OpCase,
  resolveScalars,
  type Scalars,
  type StorageForm,
  type Values,
} from './op.ts';

/**
 * Runs forward and backward `times` times on the same inputs.
 *
 * @throws ContractError if any two runs differ in a bit
 */
export async function checkRepeatable(
  device: Device,
  op: Op,
  opCase: OpCase,
  seed: number,
  dtype: StorageForm = 'f32',
  times = 5,
): Promise<void> {
  const bench = guardedBench(device, op, dtype);
  try {
    const inputs = roundedInputs(op, opCase, seed, dtype);
    const scalars = resolveScalars(op, opCase.scalars);
    let first: Values | undefined;
    for (let time = 0; time < times; time++) {
      const results = await runBoth(bench, op, opCase.dims, scalars, inputs, seed);
      first ??= results;
      for (const [name, values] of Object.entries(results)) {
        const at = firstDifference(first[name], values);
        if (at < 0) continue;
        throw new ContractError(
          `${op.id} on ${device.backend.name} (${describeCase(opCase)}; seed ${seed}): run ` +
            `${time + 1} gives ${values[at]} at element ${at} of ${name}, run 1 gave ` +
            `${first[name][at]}. Fix the order of the kernel's sums.`,
        );
      }
    }
  } finally {
    bench.guard.dispose();
  }
}

/**
 * Computes a random part of a case (some rows, one sequence) alone, and again inside the whole
 * case with NaN everywhere else: both must give the bits of the part inside the whole.
 *
 * @throws ContractError if they do not, or if the op declares no part
 */
export async function checkBatchInvariance(
  device: Device,
  op: Op,
  opCase: OpCase,
  seed: number,
  dtype: StorageForm = 'f32',
): Promise<void> {
  if (op.part === undefined) {
    throw new ContractError(`${op.id} has no independent rows. Check only ops with a part.`);
  }
  const { dims } = opCase;
  const scalars = resolveScalars(op, opCase.scalars);
  const inputs = roundedInputs(op, opCase, seed, dtype);
  const part = op.part(inputs, dims, scalars, randomAt(seed, 'part', op.id));
  const partInputs: Record<string, Values[string]> = { ...part.indices };
  const poisoned: Record<string, Values[string]> = { ...inputs };
  for (const [name, elements] of Object.entries(part.inputs)) {
    const whole = inputs[name];
    partInputs[name] = Float64Array.from(elements, (element) => whole[element]);
    const others = new Float64Array(whole.length).fill(Number.NaN);
    for (const element of elements) others[element] = whole[element];
    poisoned[name] = others;
  }
  const bench = guardedBench(device, op, dtype);
  try {
    const whole = await runForward(bench, op, dims, scalars, inputs);
    const alone = await runForward(bench, op, part.dims, scalars, partInputs);
    const besideNaN = await runForward(bench, op, dims, scalars, poisoned);
    for (const [name, elements] of Object.entries(part.outputs)) {
      const expected = Array.from(elements, (element) => whole[name][element]);
      const isolated = Array.from(elements, (element) => besideNaN[name][element]);
      const where =
        `${op.id} on ${device.backend.name} (${describeCase(opCase)}; part ` +
        `${describeCase({ dims: part.dims })}; seed ${seed}): output ${name}`;
      expectSameBits(`${where} alone`, alone[name], expected);
      expectSameBits(`${where} beside NaN`, isolated, expected);
    }
  } finally {
    bench.guard.dispose();
  }
}

function expectSameBits(where: string, got: ArrayLike<number>, expected: ArrayLike<number>): void {
  const at = firstDifference(got, expected);
  if (at < 0) return;
  throw new ContractError(
    `${where} gives ${got[at]} at element ${at}, in the batch it gives ${expected[at]}. ` +
      "Let a result depend on its own inputs only, in an order that is the result's own.",
  );
}

function roundedInputs(op: Op, opCase: OpCase, seed: number, dtype: StorageForm): Values {
  const inputs: Record<string, Values[string]> = {};
  const drawn = drawInputs(op, opCase, randomAt(seed, 'invariance', op.id));
  for (const [name, values] of Object.entries(drawn)) {
    inputs[name] = roundTo(values, dtypeOf(op.inputs[name], dtype));
  }
  return inputs;
}

async function runForward(
  bench: Bench,
  op: Op,
  dims: Dims,
  scalars: Scalars,
  inputs: Values,
): Promise<Values> {
  const outputs = bench.device.forward(op, uploadAll(bench, dims, inputs), scalars);
  return readAll(bench, outputs, 'output');
}

async function runBoth(
  bench: Bench,
  op: Op,
  dims: Dims,
  scalars: Scalars,
  inputs: Values,
  seed: number,
): Promise<Values> {
  const arrays = uploadAll(bench, dims, inputs);
  const outputs = bench.device.forward(op, arrays, scalars);
  const results = await readAll(bench, outputs, 'output');
  if (op.backward === undefined) return results;
  const random = randomAt(seed, 'repeat-backward', op.id);
  const gradOutputs: Record<string, DeviceArray> = {};
  for (const name of differentiableOutputs(op)) {
    const { view, shape } = outputs[name];
    const weights = drawNormals(op.outputs[name], dims, random);
    gradOutputs[name] = bench.device.upload(view.dtype, shape, weights);
  }
  const gradients = bench.device.backward(op, gradOutputs, arrays, outputs, scalars);
  return { ...results, ...(await readAll(bench, gradients, 'gradient of')) };
}

function uploadAll(bench: Bench, dims: Dims, inputs: Values): Record<string, DeviceArray> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, values]) => [name, bench.input(name, values, dims)]),
  );
}

async function readAll(
  bench: Bench,
  arrays: Record<string, DeviceArray>,
  role: string,
): Promise<Values> {
  const values: Record<string, Values[string]> = {};
  for (const [name, array] of Object.entries(arrays)) {
    const read = await bench.device.read(array);
    values[role === 'output' ? name : `${role} ${name}`] =
      read instanceof Int32Array ? read : Float64Array.from(read);
  }
  return values;
}
