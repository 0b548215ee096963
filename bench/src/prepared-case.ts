/** One case of an op with its arrays on a device, ready to be launched over and over. */
import { bytesOf, type DType, UnsupportedError } from '@saccade/core';
import {
  type Cost,
  type CostCall,
  type Device,
  type DeviceArray,
  type DeviceArrays,
  type Direction,
  formOf,
  type Launch,
  type Op,
  type OpCase,
  resolveScalars,
  shapeOf,
  type Values,
} from '@saccade/ops';
import { drawInputs, drawNormals, dtypeOf } from '@saccade/ops/contract';
import { quickRandom } from './quick-random.ts';

/** The timed unit: one direction, or a forward and the backward after it. */
export type Pass = Direction | 'both';

/** The launches of a pass, in order. */
export const directionsOf = (pass: Pass): readonly Direction[] =>
  pass === 'both' ? ['forward', 'backward'] : [pass];

export interface PreparedCase {
  readonly op: Op;
  readonly opCase: OpCase;
  readonly dtype: DType;
  readonly inputs: DeviceArrays;
  readonly outputs: DeviceArrays;
  /** Gradients of the differentiable outputs; empty without a backward. */
  readonly gradOutputs: DeviceArrays;
  /** Gradients of the differentiable inputs; empty without a backward. */
  readonly gradInputs: DeviceArrays;
  /** Those wanted that this op has and the backend can run. */
  readonly passes: readonly Pass[];
  launch(pass: Pass): void;
  cost(pass: Pass): Cost;
  /** Bytes of all operands. */
  workingSet(pass: Pass): number;
  dispose(): void;
}

/**
 * Draws a case and runs it once, forward and, if it has one, backward.
 *
 * The same case has the same data in every run.
 *
 * @param wanted  what will be launched; the gradients of a big case would only take memory
 * @throws UnsupportedError if the backend cannot run the forward with this storage type
 */
export function prepareCase(
  device: Device,
  op: Op,
  opCase: OpCase,
  dtype: DType,
  wanted: readonly Pass[] = ['forward', 'backward'],
): PreparedCase {
  const { dims } = opCase;
  const random = quickRandom(1, 'bench', op.id);
  const scalars = resolveScalars(op, opCase.scalars);
  const inputs: Record<string, DeviceArray> = {};
  const indices: Record<string, Values[string]> = {};
  for (const [name, values] of Object.entries(drawInputs(op, opCase, random))) {
    const operand = op.inputs[name];
    if (operand === undefined) continue;
    if (values instanceof Int32Array) indices[name] = values;
    inputs[name] = device.upload(dtypeOf(operand, dtype), shapeOf(operand, dims), values);
  }
  const outputs = device.forward(op, inputs, opCase.scalars);
  const gradOutputs: Record<string, DeviceArray> = {};
  let gradInputs: DeviceArrays = {};
  let hasBackward = op.backward !== undefined && wanted.some((pass) => pass !== 'forward');
  if (hasBackward) {
    for (const name of opCase.gradOf ?? formOf(op).differentiableOutputs) {
      const [operand, output] = [op.outputs[name], outputs[name]];
      if (operand === undefined || output === undefined) continue;
      const values = drawNormals(operand, dims, random);
      gradOutputs[name] = device.upload(output.view.dtype, output.shape, values);
    }
    try {
      gradInputs = device.backward(op, gradOutputs, inputs, outputs, opCase.scalars);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      hasBackward = false;
    }
  }

  const arrays = { gradOutput: gradOutputs, input: inputs, output: outputs, gradInput: gradInputs };
  const launchOf = (direction: Direction): Launch => ({
    op,
    direction,
    operands: formOf(op).order[direction].map(({ role, name }) => arrays[role][name]?.view),
    dims: Object.fromEntries(formOf(op).axes.map((axis) => [axis, dims[axis] ?? 0])),
    scalars,
  });
  const launches = {
    forward: launchOf('forward'),
    backward: hasBackward ? launchOf('backward') : undefined,
  };
  const call: CostCall = { bytesPerElement: bytesOf(dtype), indices, scalars };
  return {
    op,
    opCase,
    dtype,
    inputs,
    outputs,
    gradOutputs,
    gradInputs,
    passes: wanted.filter((pass) => pass === 'forward' || hasBackward),
    launch(pass) {
      for (const direction of directionsOf(pass)) {
        const launch = launches[direction];
        if (launch === undefined) throw new UnsupportedError(`${op.id} has no ${direction} here.`);
        device.backend.dispatch(launch);
      }
    },
    cost(pass) {
      const costs = directionsOf(pass).map((direction) =>
        direction === 'forward' ? op.cost(dims, call) : op.backwardCost?.(dims, call),
      );
      const total = (key: keyof Cost): number =>
        costs.reduce((sum, cost) => sum + (cost?.[key] ?? Number.NaN), 0);
      return { flops: total('flops'), bytes: total('bytes') };
    },
    workingSet(pass) {
      const operands = directionsOf(pass).flatMap((direction) => launches[direction]?.operands);
      let bytes = 0;
      for (const view of new Set(operands)) {
        bytes += view === undefined ? 0 : view.length * bytesOf(view.dtype);
      }
      return bytes;
    },
    dispose() {
      // An output in place of an input is the same array.
      const all = Object.values(arrays).flatMap((group) => Object.values(group));
      for (const array of new Set(all)) if (array !== undefined) device.free(array);
    },
  };
}

/** `M2048 K128 N384`, and what else the case sets. */
export function shortCase({ dims, scalars, without }: OpCase): string {
  const letters = Object.entries(dims)
    .filter(([axis]) => !BOOKKEEPING.has(axis))
    .map(([axis, length]) => `${axis}${length}`);
  const set = Object.entries(scalars ?? {}).map(([name, value]) => `${name}=${value}`);
  return [...letters, ...set, ...(without ?? []).map((name) => `no ${name}`)].join(' ');
}

/** Axes whose length is fixed or follows from the others. */
const BOOKKEEPING = new Set(['P', 'U', 'U2', 'O', 'Q']);
