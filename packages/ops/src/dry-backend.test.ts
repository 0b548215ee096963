import { ShapeError, StateError } from '@saccade/core';
import { expect, it } from 'vitest';
import { openDevice } from './device.ts';
import { dryBackend } from './dry-backend.ts';
import { gemm } from './ops/catalog.ts';

it('allocates as a device does, computes nothing and reads zeros', async () => {
  const backend = dryBackend();
  const device = openDevice(backend);
  // Two terabytes: no machine of ours has them.
  const x = device.alloc('f32', [1 << 20, 1 << 19]);
  const w = device.upload('f32', [3, 1 << 19], new Float32Array(3 << 19));
  expect(device.allocatedBytes()).toBe(4 * (2 ** 39 + 3 * 2 ** 19));
  device.free(device.zeros('bf16', [1 << 20, 1 << 19]));
  const { y } = device.forward(gemm, { x, w });
  expect(y.shape).toEqual([1 << 20, 3]);
  const small = { view: { ...y.view, length: 2 }, shape: [2] };
  expect(await device.read(small)).toEqual(new Float32Array(2));
  const gradients = device.backward(gemm, { y }, { x, w }, { y });
  expect(Object.keys(gradients)).toEqual(['x', 'w']);
  const peak = device.allocatedBytes();
  for (const array of Object.values(gradients)) if (array !== undefined) device.free(array);
  expect(backend.peakBytes).toBe(peak);
  expect(backend.peakHeldBytes).toBeGreaterThanOrEqual(peak);
  backend.resetPeak();
  expect(backend.peakBytes).toBe(device.allocatedBytes());
  expect(() => device.forward(gemm, { x, w: y })).toThrow(ShapeError);
  device.free(x);
  expect(() => device.write(x, [])).toThrow(ShapeError);
  device.dispose();
  expect(() => device.alloc('f32', [1])).toThrow(StateError);
});
