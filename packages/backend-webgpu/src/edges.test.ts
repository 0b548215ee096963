/**
 * Kernels of rows and elements at their edges: none of them, long lists, more than an axis takes.
 */
import { cacheRows, mergeStates } from '@saccade/attention';
import {
  type Device,
  type Op,
  type OpCase,
  openDevice,
  opsCatalog,
  weightDims,
} from '@saccade/ops';
import { compareWithOracle } from '@saccade/ops/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';
import { openTestDevice } from './test-device.fixture.ts';

const probe = await probeForTests();
vi.setConfig({ testTimeout: 600_000 });
const ops: readonly Op[] = [
  ...opsCatalog.filter(({ id }) => id !== 'gemm' && id !== 'gemmQuantized'),
  cacheRows,
  mergeStates,
];

/** Dims of N values in blocks of 256: their codes, four per word, and scales. */
const blocks = (N: number) => ({ N, W: Math.ceil(N / 4), K: Math.ceil(N / 256), T: 256 });

type Cases = Readonly<Record<string, readonly OpCase[]>>;

const EMPTY: Cases = {
  adamwStep: [{ dims: { N: 0, U: 1 }, scalars: { maxNorm: 1, step: 5 } }],
  add: [{ dims: { N: 0, D: 5 } }, { dims: { N: 3, D: 0 } }],
  axpby: [
    { dims: { N: 0 }, scalars: { a: 0.1, b: 0.9 } },
    { dims: { N: 0 }, scalars: { b: 0 }, without: ['x'] },
  ],
  cacheRows: [{ dims: { C: 4, D: 5, N: 0 } }, { dims: { C: 4, D: 0, N: 3 } }],
  dequantizeBlocks: [{ dims: blocks(0) }],
  embedding: [
    { dims: { V: 5, D: 8, E: 3, N: 0 } },
    { dims: { V: 5, D: 0, E: 3, N: 4 } },
    { dims: { V: 5, D: 8, E: 0, N: 4 } },
  ],
  expertLinear: [
    { dims: { R: 0, K: 4, E: 3, N: 5 } },
    { dims: { R: 4, K: 0, E: 3, N: 5 } },
    { dims: { R: 4, K: 4, E: 3, N: 0 } },
  ],
  gatherRows: [
    { dims: { N: 4, D: 5, R: 0 } },
    { dims: { N: 4, D: 0, R: 3 } },
    { dims: { N: 0, D: 4, R: 0 } },
  ],
  gelu: [{ dims: { N: 0, D: 4 } }],
  gradNorm: [{ dims: { N: 0, U: 1 } }],
  layerNorm: [{ dims: { N: 0, D: 8 } }, { dims: { N: 0, D: 7 } }],
  mergeStates: [
    { dims: { T: 0, H: 2, D: 8 } },
    { dims: { T: 3, H: 0, D: 8 } },
    { dims: { T: 3, H: 2, D: 0 } },
  ],
  quantizeBlocks: [{ dims: blocks(0) }],
  quantizeWeight: [
    { dims: weightDims(0, 8, { bits: 8, group: 8 }) },
    { dims: weightDims(3, 0, { bits: 8, group: 64 }) },
  ],
  rmsNorm: [{ dims: { N: 0, D: 8 } }, { dims: { N: 0, D: 7 } }],
  rotary: [
    { dims: { T: 0, H: 2, D: 8, E: 4 } },
    { dims: { T: 3, H: 0, D: 8, E: 4 } },
    { dims: { T: 3, H: 2, D: 0, E: 0 } },
  ],
  scaleColumns: [{ dims: { N: 0, D: 8 } }, { dims: { N: 0, D: 7 } }],
  routeExperts: [{ dims: { T: 0, E: 4, K: 2 } }, { dims: { T: 3, E: 4, K: 0 } }],
  scatterRows: [{ dims: { C: 4, D: 5, N: 0 } }, { dims: { C: 4, D: 0, N: 3 } }],
  sign: [{ dims: { N: 0 } }],
  swiglu: [{ dims: { N: 0, D: 8 } }],
  weightedSum: [{ dims: { N: 0, K: 3, D: 8 } }, { dims: { N: 0, K: 3, D: 7 } }],
};

/** Workgroups that an axis of the second device takes: 65,535 would need arrays of gigabytes. */
const AXIS = 32;

/** Each needs more than AXIS workgroups, and not a multiple of it. */
const FOLDED: Cases = {
  adamwStep: [{ dims: { N: 10_003, U: 1 }, scalars: { maxNorm: 1, step: 5 } }],
  add: [{ dims: { N: 71, D: 129 } }, { dims: { N: 150, D: 132 } }],
  axpby: [{ dims: { N: 10_003 }, scalars: { a: 0.1, b: 0.9 } }],
  cacheRows: [{ dims: { C: 40, D: 9, N: 70 } }],
  dequantizeBlocks: [{ dims: blocks(40_003) }],
  embedding: [{ dims: { V: 20, D: 260, E: 10, N: 70 } }],
  expertLinear: [{ dims: { R: 70, K: 9, E: 40, N: 70 } }],
  gatherRows: [{ dims: { N: 20, D: 260, R: 70 } }],
  gelu: [{ dims: { N: 71, D: 129 } }],
  gradNorm: [{ dims: { N: 280_003, U: 1 } }],
  layerNorm: [{ dims: { N: 70, D: 129 } }],
  mergeStates: [{ dims: { T: 201, H: 3, D: 5 } }],
  quantizeBlocks: [{ dims: blocks(40_003) }],
  quantizeWeight: [{ dims: weightDims(70, 301, { bits: 8, group: 301 }) }],
  rmsNorm: [{ dims: { N: 70, D: 129 } }],
  rotary: [{ dims: { T: 71, H: 4, D: 34, E: 17 } }],
  scaleColumns: [{ dims: { N: 70, D: 129 } }],
  routeExperts: [{ dims: { T: 70, E: 9, K: 3 } }],
  scatterRows: [{ dims: { C: 40, D: 9, N: 70 } }],
  sign: [{ dims: { N: 10_003 } }],
  swiglu: [{ dims: { N: 71, D: 129 } }],
  weightedSum: [{ dims: { N: 71, K: 2, D: 129 } }],
};

/** Lists of indices that are looked through in several passes, and repeat over their borders. */
const LONG: Cases = {
  cacheRows: [{ dims: { C: 3, D: 2, N: 4200 } }],
  embedding: [{ dims: { V: 2, D: 2, E: 2, N: 4200 } }],
  gatherRows: [{ dims: { N: 3, D: 2, R: 4200 } }],
  scatterRows: [{ dims: { C: 3, D: 2, N: 4200 } }],
};

const listed = (cases: Cases) =>
  Object.entries(cases).flatMap(([id, list]) =>
    list.map((opCase) => [id, JSON.stringify(opCase.dims), opCase] as const),
  );
const find = (id: string): Op => ops.find((op) => op.id === id) as Op;

it('has a case for every op that is no product of matrices', () => {
  const ids = ops.map(({ id }) => id).sort();
  expect(Object.keys(EMPTY).sort()).toEqual(ids);
  expect(Object.keys(FOLDED).sort()).toEqual(ids);
});

describe.skipIf(!probe.available)('at an edge', () => {
  let device: Device;
  beforeAll(async () => {
    device = openDevice(await webgpuBackend({ poisonWorkspaces: true }));
  });
  afterAll(() => device.dispose());

  it.each([...listed(EMPTY), ...listed(LONG)])(
    '%s of %s agrees with its oracle',
    async (id, _, opCase) => {
      await compareWithOracle(device, find(id), opCase, 3);
    },
  );
});

describe.skipIf(!probe.available)('on an axis that takes few workgroups', () => {
  let device: Device;
  beforeAll(async () => {
    const { gpu, wrapped } = await openTestDevice({ maxComputeWorkgroupsPerDimension: AXIS });
    device = openDevice(await webgpuBackend({ gpu, device: wrapped, poisonWorkspaces: true }));
    return () => {
      device.dispose();
      wrapped.destroy();
    };
  });

  it.each(listed(FOLDED))('%s of %s goes on along the next', async (id, _, opCase) => {
    await compareWithOracle(device, find(id), opCase, 5);
  });
});
