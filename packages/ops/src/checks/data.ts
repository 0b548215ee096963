/** Checks of kernels on odd data: arrays without elements, and indices out of range. */
import { DataError, type DType, sizeOf } from '@saccade/core';
import type { Device } from '../device.ts';
import type { DeviceArray } from '../device-array.ts';
import type { Op } from '../op.ts';
import {
  embedding,
  expertLinear,
  gatherRows,
  gemm,
  routeExperts,
  scatterRows,
} from '../ops/catalog.ts';
import { type CheckOptions, type DeviceCheck, needsOf } from './check.ts';
import { expectError, expectSame } from './expect.ts';

interface WrongIndex {
  readonly op: Op;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** The input that holds indices, and what it holds. */
  readonly index: string;
  readonly values: readonly number[];
  readonly message: RegExp;
}

const WRONG: readonly WrongIndex[] = [
  {
    op: embedding,
    shapes: { table: [2, 3], ids: [1] },
    index: 'ids',
    values: [2],
    message: /embedding: ids\[0\] is 2; expected.*below 2/,
  },
  {
    op: embedding,
    shapes: { table: [2, 3], ids: [2] },
    index: 'ids',
    values: [0, -1],
    message: /ids\[1\] is -1/,
  },
  {
    op: gatherRows,
    shapes: { x: [2, 3], index: [1] },
    index: 'index',
    values: [5],
    message: /index\[0\] is 5/,
  },
  {
    op: expertLinear,
    shapes: { x: [2, 3], experts: [2], w: [4, 2, 3] },
    index: 'experts',
    values: [3, 4],
    message: /experts\[1\] is 4/,
  },
  {
    op: expertLinear,
    shapes: { x: [1, 3], experts: [1], w: [4, 2, 3] },
    index: 'experts',
    values: [-1],
    message: /experts\[0\] is -1/,
  },
  {
    op: routeExperts,
    shapes: { logits: [2, 3], given: [2, 2] },
    index: 'given',
    values: [-1, -1, 0, 3],
    message: /given\[3\] is 3/,
  },
  {
    op: routeExperts,
    shapes: { logits: [2, 3], given: [2, 2] },
    index: 'given',
    values: [-1, 1, 0, 2],
    message: /given\[1\] is 1/,
  },
  {
    op: scatterRows,
    shapes: { into: [2, 3], x: [1, 3], index: [1] },
    index: 'index',
    values: [2],
    message: /index\[0\] is 2/,
  },
];

/** Empty products, and indices out of range of every op of this package that has some. */
export function dataChecks({ dtype = 'f32', forwardOnly }: CheckOptions): readonly DeviceCheck[] {
  const wrong = WRONG.map(
    ({ op, shapes, index, values, message }): DeviceCheck => ({
      name: `${op.id} in ${dtype} refuses ${index} of ${values.join(', ')} in words`,
      needs: needsOf(op, dtype).slice(0, 1),
      async run({ device }) {
        const inputs: Record<string, DeviceArray> = {};
        for (const [name, shape] of Object.entries(shapes)) {
          inputs[name] =
            name === index
              ? device.upload('i32', shape, values)
              : device.upload(dtype, shape, Array(sizeOf(shape)).fill(0));
        }
        // Thrown at once by a backend that runs launches at once, else by the next wait.
        const launch = async () => {
          device.forward(op, inputs);
          await device.synchronize();
        };
        await expectError('a wrong index', launch, DataError, message);
      },
    }),
  );
  if (forwardOnly) return wrong;
  const empty: DeviceCheck = {
    name: `gemm in ${dtype} multiplies empty matrices`,
    needs: needsOf(gemm, dtype),
    run: ({ device }) => checkEmpty(device, dtype),
  };
  return [...wrong, empty];
}

async function checkEmpty(device: Device, dtype: DType): Promise<void> {
  for (const [M, K, N] of [
    [0, 3, 2],
    [2, 0, 3],
    [2, 3, 0],
  ]) {
    const ones = (rows: number, columns: number): DeviceArray =>
      device.upload(dtype, [rows, columns], Array(rows * columns).fill(1));
    const inputs = { x: ones(M, K), w: ones(N, K) };
    const outputs = device.forward(gemm, inputs);
    const gradients = device.backward(gemm, { y: ones(M, N) }, inputs, outputs);
    const where = `gemm of M ${M}, K ${K}, N ${N}`;
    const filled = (length: number, value: number): readonly number[] => Array(length).fill(value);
    expectSame(where, await device.read(outputs.y), filled(M * N, 0));
    expectSame(`${where}: ∂x`, await device.read(gradients.x), filled(M * K, N));
    expectSame(`${where}: ∂w`, await device.read(gradients.w), filled(N * K, M));
  }
}
