/**
 * Every shader in every storage type, compiled and bound for Dawn's null device: it has 16-bit
 * floats, which software adapters lack, and no more arrays per pass than WebGPU promises. It
 * computes nothing, so what is wrong here is what the compiler and the bindings refuse.
 */
import { attentionCatalog } from '@saccade/attention';
import { DataError, randomAt } from '@saccade/core';
import { logprobCatalog } from '@saccade/logprob';
import {
  type Device,
  type DeviceArray,
  differentiableOutputs,
  type Op,
  type OpCase,
  openDevice,
  opsCatalog,
  shapeOf,
} from '@saccade/ops';
import { drawInputs, dtypeOf } from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webgpuBackend } from './index.ts';
import { openNullGpu } from './test-device.fixture.ts';

const gpu = await openNullGpu();
const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].filter((op) =>
  webGpuKernels.some((kernel) => kernel.op === op.id),
);

/** Forward and backward on whatever the arrays hold. */
function runBoth(device: Device, op: Op, opCase: OpCase, dtype: 'f32' | 'f16'): void {
  const inputs: Record<string, DeviceArray> = {};
  for (const [name, values] of Object.entries(drawInputs(op, opCase, randomAt(1, op.id)))) {
    const operand = op.inputs[name];
    inputs[name] = device.upload(dtypeOf(operand, dtype), shapeOf(operand, opCase.dims), values);
  }
  const outputs = device.forward(op, inputs, opCase.scalars);
  if (op.backward === undefined) return;
  const gradients = Object.fromEntries(
    differentiableOutputs(op).map((name) => [name, outputs[name]] as const),
  );
  device.backward(op, gradients, inputs, outputs, opCase.scalars);
  device.backward(op, {}, inputs, outputs, opCase.scalars);
}

describe.skipIf(gpu === undefined).each([
  { dtype: 'f32', subgroups: false, workgroupBytes: 16_384 },
  { dtype: 'f32', subgroups: true },
  { dtype: 'f16', subgroups: false, workgroupBytes: 16_384 },
  { dtype: 'f16', subgroups: true },
] as const)('a device with $dtype, subgroups $subgroups', ({ dtype, ...options }) => {
  let device: Device;
  beforeAll(async () => {
    device = openDevice(await webgpuBackend({ ...options, ...(gpu === undefined ? {} : { gpu }) }));
  });
  afterAll(() => device?.dispose());

  it.each(ops.map((op) => op.id))('takes all passes of %s', async (id) => {
    const op = ops.find((candidate) => candidate.id === id) as Op;
    for (const opCase of op.cases) {
      runBoth(device, op, opCase, dtype);
      // Memory holds anything on a device that runs nothing, the record of failures too.
      const error = await device.synchronize().catch((reason: unknown) => reason);
      if (!(error instanceof DataError)) expect(error).toBeUndefined();
    }
  });
});
