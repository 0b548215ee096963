/** Times one kernel: launches queued in a row, one wait at the end. */
import { type Random, randomAt } from '@saccade/core';
import {
  type Cost,
  type Device,
  type DeviceArray,
  type Direction,
  formOf,
  type Launch,
  resolveScalars,
  shapeOf,
  type Values,
} from '@saccade/ops';
import { drawInputs, drawNormals, dtypeOf } from '@saccade/ops/contract';
import type { BenchCase } from './cases.ts';

export interface Measurement {
  readonly direction: Direction;
  /** Seconds of one launch. */
  readonly median: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
  readonly cost: Cost;
}

/** A sample lasts at least this: browsers' clocks tick in tenths of milliseconds. */
const LEAST_SAMPLE_SECONDS = 0.03;
const MOST_LAUNCHES = 512;
const SAMPLES = 15;
/** Time to spend on a case, about; a slow one gets fewer samples. */
const CASE_SECONDS = 2;
const LEAST_SAMPLES = 5;

/** The directions of a case one after the other; its arrays are freed at the end. */
export async function* measureCase(
  device: Device,
  benchCase: BenchCase,
): AsyncGenerator<Measurement> {
  const { op, opCase, directions } = benchCase;
  const { dims } = opCase;
  const random = quickRandom(op.id);
  const values = drawInputs(op, opCase, random);
  const arrays: DeviceArray[] = [];
  const keep = <Kept extends DeviceArray>(array: Kept): Kept => {
    arrays.push(array);
    return array;
  };
  try {
    const inputs: Record<string, DeviceArray> = {};
    for (const [name, operand] of Object.entries(op.inputs)) {
      const value = values[name];
      if (value === undefined) continue;
      inputs[name] = keep(device.upload(dtypeOf(operand, 'f32'), shapeOf(operand, dims), value));
    }
    const outputs = device.forward(op, inputs, opCase.scalars);
    Object.values(outputs).forEach(keep);
    const role = { input: inputs, output: outputs, gradOutput: {}, gradInput: {} };
    if (directions.includes('backward')) {
      const gradOutputs: Record<string, DeviceArray> = {};
      for (const name of opCase.gradOf ?? formOf(op).differentiableOutputs) {
        const [operand, output] = [op.outputs[name], outputs[name]];
        if (operand === undefined || output === undefined) continue;
        const drawn = drawNormals(operand, dims, random);
        gradOutputs[name] = keep(device.upload('f32', output.shape, drawn));
      }
      role.gradOutput = gradOutputs;
      const gradInputs = device.backward(op, gradOutputs, inputs, outputs, opCase.scalars);
      Object.values(gradInputs).forEach(keep);
      role.gradInput = gradInputs;
    }
    for (const direction of directions) {
      const views: Readonly<Record<string, Readonly<Record<string, DeviceArray>>>> = role;
      const launch: Launch = {
        op,
        direction,
        operands: formOf(op).order[direction].map(({ role, name }) => views[role]?.[name]?.view),
        dims: Object.fromEntries(formOf(op).axes.map((axis) => [axis, dims[axis] ?? 0])),
        scalars: resolveScalars(op, opCase.scalars),
      };
      const seconds = await sample(device, launch);
      yield { direction, ...quartiles(seconds), cost: costOf(benchCase, direction, values) };
    }
  } finally {
    for (const array of new Set(arrays)) device.free(array);
  }
}

/** Seconds of one launch, once per sample. */
async function sample(device: Device, launch: Launch): Promise<readonly number[]> {
  const time = async (launches: number): Promise<number> => {
    const start = performance.now();
    for (let i = 0; i < launches; i++) device.backend.dispatch(launch);
    await device.synchronize();
    return (performance.now() - start) / 1000 / launches;
  };
  // The first one compiles its pipelines.
  await time(1);
  const once = await time(4);
  const launches = Math.min(MOST_LAUNCHES, Math.max(1, Math.ceil(LEAST_SAMPLE_SECONDS / once)));
  const affordable = Math.floor(CASE_SECONDS / (once * launches));
  const count = Math.min(SAMPLES, Math.max(LEAST_SAMPLES, affordable));
  const seconds: number[] = [];
  while (seconds.length < count) seconds.push(await time(launches));
  return seconds;
}

function costOf({ op, opCase }: BenchCase, direction: Direction, values: Values): Cost {
  const indices: Record<string, Int32Array> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof Int32Array) indices[name] = value;
  }
  const call = { bytesPerElement: 4, indices, scalars: resolveScalars(op, opCase.scalars) };
  const cost =
    direction === 'forward' ? op.cost(opCase.dims, call) : op.backwardCost?.(opCase.dims, call);
  return cost ?? { flops: Number.NaN, bytes: Number.NaN };
}

function quartiles(seconds: readonly number[]) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return low + (high - low) * (place % 1);
  };
  return { median: at(0.5), lowerQuartile: at(0.25), upperQuartile: at(0.75) };
}

/** A prime, so that the rows of a matrix do not repeat. */
const TABLE = 65_521;

/** Normals from a table that comes round again: millions of fresh ones take seconds. */
function quickRandom(name: string): Random {
  const random = randomAt(1, 'bench', name);
  const table = Float64Array.from({ length: TABLE }, () => random.normal());
  let next = 0;
  return { ...random, normal: () => table[next++ % TABLE] ?? 0 };
}
