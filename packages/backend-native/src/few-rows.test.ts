/** Few rows take a way of their own through weights that come from memory: to the bits of the same rows among many. */
import { type DType, randomAt } from '@saccade/core';
import { linearLogprob } from '@saccade/logprob';
import { type Device, type DeviceArray, gemm, openDevice } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { type InstructionSet, nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

/** Rows of the ways that there are, and one more; `MANY` of them take none of those. */
const FEW = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 25, 32];
const MANY = 40;
/**
 * More than 2 MiB; an odd depth of several blocks and stretches, columns that lie in one set of a cache, and
 * a last group that is not full.
 */
const SHAPES = [
  { depth: 2501, columns: 530 },
  { depth: 2048, columns: 530 },
  { depth: 96, columns: 11_005 },
];

const devices = new Map<InstructionSet, Device>();
afterAll(() => {
  for (const device of devices.values()) device.dispose();
});

function deviceOf(isa: InstructionSet): Device {
  const device = devices.get(isa) ?? openDevice(nativeBackend({ isa, threads: 2 }));
  devices.set(isa, device);
  return device;
}

/** Rows of outputs, as the bits of float32. */
async function bitsOf(device: Device, array: DeviceArray): Promise<Buffer> {
  return Buffer.from(Float32Array.from(await device.read(array)).buffer);
}

describe.each([...native.instructionSets, ...native.emulated])('on %s', (isa) => {
  for (const dtype of ['f32', 'bf16'] as const satisfies readonly DType[]) {
    for (const [index, { depth, columns }] of SHAPES.entries()) {
      const device = deviceOf(isa);
      const random = randomAt(index, 'few rows', dtype);
      const numbers = (count: number) =>
        Float32Array.from({ length: count }, () => random.normal());
      const rows = numbers(MANY * depth);

      it(`products of ${dtype}, ${depth} deep`, async () => {
        const w = device.upload(dtype, [columns, depth], numbers(columns * depth));
        const b = device.upload(dtype, [columns], numbers(columns));
        const yOf = (count: number) => {
          const x = device.upload(dtype, [count, depth], rows.subarray(0, count * depth));
          return bitsOf(device, device.forward(gemm, { x, w, b }).y);
        };
        const all = await yOf(MANY);
        for (const count of FEW) {
          const part = all.subarray(0, 4 * count * columns);
          expect(part.equals(await yOf(count)), `${count} rows`).toBe(true);
        }
      });

      it(`log-probs of ${dtype}, ${depth} deep`, async () => {
        const weight = device.upload(dtype, [columns, depth], numbers(columns * depth));
        const lseOf = (count: number) => {
          const hidden = device.upload(dtype, [count, depth], rows.subarray(0, count * depth));
          const targets = device.upload('i32', [count], new Int32Array(count));
          return bitsOf(device, device.forward(linearLogprob, { hidden, weight, targets }).lse);
        };
        const all = await lseOf(MANY);
        for (const count of FEW) {
          const part = all.subarray(0, 4 * count);
          expect(part.equals(await lseOf(count)), `${count} rows`).toBe(true);
        }
      });
    }
  }
});
