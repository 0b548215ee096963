/** Kernels in tiles for few rows and for many, on GPUs and on CPUs: all right, and the same to the bit. */
import { attention, attentionDecode } from '@saccade/attention';
import { randomAt } from '@saccade/core';
import { linearLogprob, linearSample } from '@saccade/logprob';
import { type Device, gemm, type Op, type OpCase, openDevice, shapeOf } from '@saccade/ops';
import { compareWithOracle, drawInputs, drawNormals, dtypeOf } from '@saccade/ops/contract';
import { TILE_ROWS, type TileRows } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();
// Software adapters take a second or more to compile a large shader; a busy machine, several.
vi.setConfig({ testTimeout: 600_000 });

interface Forced {
  readonly tileRows: TileRows;
  readonly isSoftware: boolean;
  /** Whether threads can read from each other, as those on a CPU do for products. */
  readonly subgroups: boolean;
}

const isSweep = process.env.SACCADE_SWEEP !== undefined;
/**
 * All tiles of products there are: GPUs have one for 1 and 4 rows, and one for 8 and 16. Each compiles
 * shaders of its own for half a minute: one of a GPU and two of a CPU, and a sweep has the others.
 */
const FORCED: readonly Forced[] = [
  ...([4, 16, 64] as const).map((tileRows) => ({ tileRows, isSoftware: false, subgroups: true })),
  ...TILE_ROWS.map((tileRows) => ({ tileRows, isSoftware: true, subgroups: true })),
  { tileRows: 4 as const, isSoftware: true, subgroups: false },
  { tileRows: 64 as const, isSoftware: true, subgroups: false },
].filter(
  ({ tileRows, isSoftware, subgroups }) =>
    isSweep || (isSoftware ? subgroups && tileRows <= 4 : tileRows === 64),
);
if (!isSweep) {
  console.info('Tiles of other sizes wait for `npm run sweep`.');
}

interface TileCase {
  readonly op: Op;
  readonly opCase: OpCase;
  /** Rows of the tiles it is run in. Default: all for more than one row. */
  readonly gpu?: readonly TileRows[];
  readonly software?: readonly TileRows[];
}

/** Attention has tiles for the two kinds of adapters only, and the largest shaders of all. */
const ATTENTION_CASES: readonly TileCase[] = [
  { op: attention, opCase: { dims: { T: 70, H: 4, G: 2, D: 40, S: 3, P: 3 } } },
  {
    op: attentionDecode,
    opCase: { dims: { N: 3, H: 6, G: 1, D: 20, C: 90, R: 5, U2: 2, O: 4 } },
  },
  {
    op: attentionDecode,
    opCase: { dims: { N: 3, H: 6, G: 2, D: 20, C: 90, R: 5, U2: 2, O: 4 } },
  },
].map((testCase) => ({ ...testCase, gpu: [64] as const, software: [64] as const }));

/** Depths that leave a remainder in every tile; rows for one, and for more than one of them. */
const CASES: readonly TileCase[] = [
  { op: gemm, opCase: { dims: { M: 3, K: 44, N: 36 } } },
  { op: gemm, opCase: { dims: { M: 19, K: 45, N: 70 } } },
  { op: linearLogprob, opCase: { dims: { N: 45, D: 40, V: 300 } } },
  {
    op: linearSample,
    opCase: { dims: { N: 18, D: 40, V: 300, Q: 4 }, scalars: { temperature: 1 } },
  },
  // One row, in the shaders of the cases above but for the tile of one row.
  { op: gemm, opCase: { dims: { M: 1, K: 44, N: 36 } }, software: TILE_ROWS },
  { op: linearLogprob, opCase: { dims: { N: 1, D: 40, V: 300 } }, software: TILE_ROWS },
  // Numbers that are read one by one: the tiles are those above, so two of them tell enough.
  {
    op: linearLogprob,
    opCase: { dims: { N: 2, D: 37, V: 300 } },
    gpu: [16],
    software: isSweep ? [8] : [4],
  },
  // With gradients, in the tiles of GPUs: no other test here has those.
  ...ATTENTION_CASES.slice(0, isSweep ? undefined : 1),
];

const casesOf = ({ tileRows, isSoftware }: Forced): readonly TileCase[] =>
  CASES.filter(({ gpu, software }) =>
    ((isSoftware ? software : gpu) ?? TILE_ROWS.slice(1)).includes(tileRows),
  );

/** All results of a case, forward and backward. */
async function resultsOf(device: Device, op: Op, { dims, scalars }: OpCase) {
  const random = randomAt(1, op.id);
  const inputs = Object.fromEntries(
    Object.entries(drawInputs(op, { dims, ...(scalars && { scalars }) }, random)).map(
      ([name, values]) => {
        const operand = op.inputs[name];
        const shape = shapeOf(operand, dims);
        return [name, device.upload(dtypeOf(operand, 'f32'), shape, values)];
      },
    ),
  );
  const outputs = device.forward(op, inputs, scalars);
  const arrays = { ...outputs };
  if (op.backward !== undefined) {
    const [name, operand] = Object.entries(op.outputs)[0] as [string, Op['outputs'][string]];
    const upstream = device.upload(
      'f32',
      shapeOf(operand, dims),
      drawNormals(operand, dims, random),
    );
    const gradients = device.backward(op, { [name]: upstream }, inputs, outputs, scalars);
    for (const [input, gradient] of Object.entries(gradients)) arrays[`d ${input}`] = gradient;
  }
  const read: Record<string, readonly number[]> = {};
  for (const [name, array] of Object.entries(arrays)) read[name] = [...(await device.read(array))];
  return read;
}

describe.skipIf(!probe.available)('tiles', () => {
  const devices = new Map<Forced, Device>();
  beforeAll(async () => {
    for (const forced of FORCED) {
      const backend = await webgpuBackend({ ...forced, poisonWorkspaces: true });
      devices.set(forced, openDevice(backend));
    }
  });
  afterAll(() => {
    for (const device of devices.values()) device.dispose();
  });

  it.each(FORCED)(
    '$tileRows, software $isSoftware, subgroups $subgroups, agree with the float64 oracle',
    async (tile) => {
      const device = devices.get(tile) as Device;
      for (const [seed, { op, opCase }] of casesOf(tile).entries()) {
        await compareWithOracle(device, op, opCase, seed);
      }
    },
  );

  it('give the same bits', async () => {
    for (const testCase of CASES) {
      const { op, opCase } = testCase;
      const tiles = FORCED.filter((forced) => casesOf(forced).includes(testCase));
      // Fewer only where a sweep has more.
      if (isSweep) expect(tiles.length).toBeGreaterThan(1);
      const all = [];
      for (const forced of tiles) {
        all.push(await resultsOf(devices.get(forced) as Device, op, opCase));
      }
      for (const results of all) expect(results).toEqual(all[0]);
    }
  });

  it('are refused where there are none of that size', async () => {
    await expect(webgpuBackend({ tileRows: 5 as 4 })).rejects.toThrow(/tileRows is 5\. Pass 1 or/);
  });
});
