/** Relations between the rows of the CUDA kernels, at the places where these kernels cut. */
import { randomAt } from '@saccade/core';
import { linearLogprob, linearSample } from '@saccade/logprob';
import { type DeviceArray, gatherRows, gemm, openDevice, scatterRows } from '@saccade/ops';
import { firstDifference } from '@saccade/ops/contract';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 600_000 });

/** Rows up to which products take low tiles; see kernels/cuda/parts/tile-product.cuh. */
const FEW_ROWS = 32;

describe.each(targets)('$label', ({ options }) => {
  const device = openDevice(cudaBackend({ ...options, poisonWorkspaces: true }));
  afterAll(() => device.dispose());
  const random = randomAt(11, 'cuda-rows');
  const normals = (count: number, size = 1): Float32Array =>
    Float32Array.from({ length: count }, () => size * random.normal());
  const readAll = (
    arrays: Readonly<Record<string, DeviceArray>>,
  ): Promise<readonly ArrayLike<number>[]> =>
    Promise.all(Object.values(arrays).map((array) => device.read(array)));

  it.each(['f32', 'bf16'] as const)('gives few rows the bits of many, in %s', async (dtype) => {
    const [N, D, V] = [FEW_ROWS + 1, 72, 300];
    const hidden = normals(N * D);
    const head = normals(V * D, 0.2);
    const words = Int32Array.from({ length: 4 * N }, () => random.word() | 0);
    const targetsOfRows = Int32Array.from({ length: N }, (_, n) => (n * 37) % V);
    const run = async (rows: number): Promise<readonly ArrayLike<number>[]> => {
      const weight = device.upload(dtype, [V, D], head);
      const x = device.upload(dtype, [rows, D], hidden.subarray(0, rows * D));
      const keys = device.upload('i32', [rows, 4], words.subarray(0, 4 * rows));
      const targets = device.upload('i32', [rows], targetsOfRows.subarray(0, rows));
      return [
        ...(await readAll(device.forward(gemm, { x, w: weight }))),
        ...(await readAll(device.forward(linearLogprob, { hidden: x, weight, targets }))),
        ...(await readAll(device.forward(linearSample, { hidden: x, weight, keys }))),
      ];
    };
    const many = await run(N);
    const few = await run(FEW_ROWS);
    few.forEach((values, i) => {
      const same = Array.from(values, (_, at) => many[i]?.[at] as number);
      expect(firstDifference(values, same)).toBe(-1);
    });
  });

  it('takes nothing from rows without a target, whatever they hold', async () => {
    // The second tile of 128 rows has no target at all.
    const [N, D, V] = [140, 8, 150];
    const targetsOfRows = Int32Array.from({ length: N }, (_, n) => (n % 3 < 2 && n < 128 ? n : -1));
    const clean = normals(N * D);
    const poisoned = clean.slice();
    for (let n = 0; n < N; n++) {
      if ((targetsOfRows[n] as number) < 0) poisoned.fill(Number.NaN, n * D, (n + 1) * D);
    }
    const weight = device.upload('bf16', [V, D], normals(V * D, 0.3));
    const targets = device.upload('i32', [N], targetsOfRows);
    const gradients = {
      logprobs: device.upload('f32', [N], normals(N)),
      entropy: device.upload('f32', [N], normals(N)),
    };
    const run = async (values: Float32Array): Promise<readonly ArrayLike<number>[]> => {
      const inputs = { hidden: device.upload('bf16', [N, D], values), weight, targets };
      const outputs = device.forward(linearLogprob, inputs);
      const taken = device.backward(linearLogprob, gradients, inputs, outputs);
      return [...(await readAll(outputs)), ...(await readAll(taken))];
    };
    const [expected, got] = [await run(clean), await run(poisoned)];
    expect(expected.flatMap((values) => Array.from(values)).some(Number.isNaN)).toBe(false);
    got.forEach((values, i) => {
      expect(firstDifference(values, expected[i] as ArrayLike<number>)).toBe(-1);
    });
  });

  it('adds up and overwrites by more indices than are sorted or looked through at once', async () => {
    const [rows, R, D] = [50, 2100, 3];
    const index = Int32Array.from({ length: R }, () => random.integer(rows));
    // Whole numbers, whose sums are exact.
    const values = Float32Array.from({ length: R * D }, () => random.integer(200) - 100);
    const sums = new Float32Array(rows * D);
    const last = new Float32Array(rows * D);
    for (let r = 0; r < R; r++) {
      for (let d = 0; d < D; d++) {
        const at = (index[r] as number) * D + d;
        sums[at] = (sums[at] as number) + (values[r * D + d] as number);
        last[at] = values[r * D + d] as number;
      }
    }
    const list = device.upload('i32', [R], index);
    const x = device.upload('f32', [rows, D], new Float32Array(rows * D));
    const dy = device.upload('f32', [R, D], values);
    const gathered = { x, index: list };
    const y = device.forward(gatherRows, gathered);
    const taken = device.backward(gatherRows, { y: dy }, gathered, y);
    expect(Array.from(await device.read(taken.x))).toEqual(Array.from(sums));
    const { into } = device.forward(scatterRows, { into: x, x: dy, index: list });
    expect(Array.from(await device.read(into))).toEqual(Array.from(last));
  });

  it('names the first row of many that points out of range', async () => {
    const index = Int32Array.from({ length: 1500 }, (_, n) => (n === 1400 ? 7 : n % 7));
    const into = device.upload('f32', [7, 1], new Float32Array(7));
    const x = device.upload('f32', [1500, 1], new Float32Array(1500));
    device.forward(scatterRows, { into, x, index: device.upload('i32', [1500], index) });
    await expect(device.backend.synchronize()).rejects.toThrow(/index\[1400\] is 7/);
  });
});
