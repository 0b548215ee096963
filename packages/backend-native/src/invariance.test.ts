/** What must not change a bit: threads, queueing, neighbours, packing, sharing a prefix; at sizes that tile. */

import { attention, attentionCatalog, planSharedPrefix, planVarlen } from '@saccade/attention';
import { type DType, randomAt } from '@saccade/core';
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
import {
  checkBatchInvariance,
  compareWithOracle,
  drawInputs,
  drawNormals,
  dtypeOf,
  firstDifference,
  relativeError,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

/** Sizes above every tile, block and chunk of the kernels, with remainders everywhere. */
const LARGE: Readonly<Record<string, readonly OpCase[]>> = {
  adamwStep: [{ dims: { N: 9001, U: 1 }, scalars: { maxNorm: 1, step: 5 } }],
  add: [{ dims: { N: 30, D: 385 } }],
  attention: [
    { dims: { T: 330, H: 4, G: 2, D: 16, S: 5, P: 3 } },
    { dims: { T: 200, H: 3, G: 1, D: 80, S: 3, P: 3 }, scalars: { causal: 0 } },
    // One tree and one key head: fewer than the threads, so its parts are made on their own.
    { dims: { T: 300, H: 2, G: 1, D: 40, S: 1, P: 3 } },
    { dims: { T: 400, H: 2, G: 1, D: 16, S: 1, P: 3 }, scalars: { window: 100 } },
    { dims: { T: 330, H: 4, G: 2, D: 16, S: 5, P: 3 }, scalars: { window: 70 } },
  ],
  attentionDecode: [
    { dims: { N: 33, H: 4, G: 2, D: 20, C: 400, R: 70, U2: 2, O: 34 } },
    { dims: { N: 33, H: 6, G: 2, D: 32, C: 400, R: 70, U2: 2, O: 34 } },
    { dims: { N: 33, H: 10, G: 2, D: 32, C: 400, R: 70, U2: 2, O: 34 } },
  ],
  embedding: [{ dims: { V: 50, D: 150, E: 10, N: 200 } }],
  gatherRows: [{ dims: { N: 100, D: 150, R: 150 } }],
  gelu: [{ dims: { N: 30, D: 385 } }],
  gemm: [
    { dims: { M: 110, K: 800, N: 70 } },
    { dims: { M: 110, K: 512, N: 40 } },
    { dims: { M: 20, K: 40, N: 1100 } },
    { dims: { M: 3, K: 2500, N: 40 } },
    { dims: { M: 2500, K: 20, N: 30 } },
    { dims: { M: 5, K: 2000, N: 1100 }, without: ['b'] },
  ],
  gradNorm: [{ dims: { N: 40_003, U: 1 } }],
  linearLogprob: [
    { dims: { N: 60, D: 8, V: 2100 } },
    { dims: { N: 30, D: 400, V: 300 } },
    { dims: { N: 21, D: 600, V: 900 } },
    { dims: { N: 1100, D: 5, V: 520 }, scalars: { temperature: 0.8 } },
  ],
  linearSample: [
    { dims: { N: 60, D: 8, V: 2100, Q: 4 } },
    { dims: { N: 30, D: 400, V: 300, Q: 4 } },
  ],
  mergeStates: [{ dims: { T: 100, H: 4, D: 72 } }],
  rmsNorm: [{ dims: { N: 100, D: 129 } }],
  rotary: [{ dims: { T: 100, H: 4, D: 34, E: 17 } }],
  scatterRows: [{ dims: { C: 100, D: 150, N: 80 } }],
  swiglu: [{ dims: { N: 30, D: 385 } }],
};
const catalog: readonly Op[] = [...opsCatalog, ...attentionCatalog, ...logprobCatalog];
const cases = catalog.flatMap((op) => {
  const isStored = Object.values(op.inputs).some(({ dtypes }) => dtypes.includes('bf16'));
  const dtypes: readonly DType[] = isStored ? ['f32', 'bf16'] : ['f32'];
  return (LARGE[op.id] ?? []).flatMap((opCase) =>
    dtypes.map((dtype) => ({ id: op.id, op, opCase, dtype })),
  );
});

type Bits = Readonly<Record<string, ArrayLike<number>>>;

/** All outputs and gradients of one random case. */
async function runBoth(
  device: Device,
  op: Op,
  opCase: OpCase,
  dtype: DType,
  seed: number,
): Promise<Bits> {
  const random = randomAt(seed, 'run', op.id);
  const inputs: Record<string, DeviceArray> = {};
  for (const [name, values] of Object.entries(drawInputs(op, opCase, random))) {
    const operand = op.inputs[name];
    const shape = shapeOf(operand, opCase.dims);
    inputs[name] = device.upload(dtypeOf(operand, dtype), shape, values);
  }
  const outputs = device.forward(op, inputs, opCase.scalars);
  const bits: Record<string, ArrayLike<number>> = {};
  for (const [name, array] of Object.entries(outputs)) bits[name] = await device.read(array);
  if (op.backward === undefined) return bits;
  const gradOutputs: Record<string, DeviceArray> = {};
  for (const name of differentiableOutputs(op)) {
    const operand = op.outputs[name];
    if (operand === undefined) continue;
    const { view, shape } = outputs[name];
    const weights = drawNormals(operand, opCase.dims, random);
    gradOutputs[name] = device.upload(view.dtype, shape, weights);
  }
  const gradients = device.backward(op, gradOutputs, inputs, outputs, opCase.scalars);
  for (const [name, array] of Object.entries(gradients)) {
    bits[`gradient of ${name}`] = await device.read(array);
  }
  return bits;
}

it('has a large case for every op', () => {
  expect(Object.keys(LARGE).sort()).toEqual([...native.kernels].sort());
});

describe.each([...native.instructionSets, ...native.emulated])('on %s', (isa) => {
  const open = (threads: number, launches: 'queued' | 'blocking' = 'queued'): Device =>
    openDevice(
      nativeBackend({ isa, threads, launches, handOverMicroseconds: 0, poisonWorkspaces: true }),
    );
  const devices = [open(1), open(2), open(3), open(1, 'blocking'), open(2, 'blocking')] as const;
  afterAll(() => {
    for (const device of devices) device.dispose();
  });

  it.each(cases)(
    '$id ($opCase.dims, $dtype) gives the same bits with 1, 2 and 3 threads, queued and blocking',
    async ({ op, opCase, dtype }) => {
      const [one, ...others] = await Promise.all(
        devices.map((device) => runBoth(device, op, opCase, dtype, 5)),
      );
      for (const other of others) {
        for (const [name, values] of Object.entries(one ?? {})) {
          expect([name, firstDifference(other[name] ?? [], values)]).toEqual([name, -1]);
        }
      }
    },
  );

  it.each(cases.filter(({ op }) => op.part !== undefined))(
    '$id ($opCase.dims, $dtype) gives a part of a large batch the bits it has alone',
    async ({ op, opCase, dtype }) => {
      for (const seed of [1, 2]) await checkBatchInvariance(devices[1], op, opCase, seed, dtype);
    },
  );
});

describe('with tiles, blocks and chunks all in use', () => {
  const device = openDevice(
    nativeBackend({ threads: 2, handOverMicroseconds: 0, poisonWorkspaces: true }),
  );
  afterAll(() => device.dispose());

  it.each(cases)(
    '$id ($opCase.dims, $dtype) agrees with its float64 oracle',
    async ({ op, opCase, dtype }) => {
      await compareWithOracle(device, op, opCase, 9, dtype);
    },
  );
});

describe('a shared prefix', () => {
  const device = openDevice(
    nativeBackend({ threads: 2, handOverMicroseconds: 0, poisonWorkspaces: true }),
  );
  afterAll(() => device.dispose());

  it('gives the outputs of the repeated prefix bit for bit, and its gradients summed', async () => {
    const [P, responses, H, G, D] = [90, [40, 7, 65], 4, 2, 32];
    const random = randomAt(3, 'prefix');
    const draw = (length: number): Float64Array =>
      Float64Array.from({ length }, () => Math.fround(random.normal()));
    const shared = planSharedPrefix({ prefixLength: P, responseLengths: responses });
    const repeated = planVarlen(responses.map((length) => P + length));
    // Row t of the repeated layout is row rowOf[t] of the shared one.
    const rowOf: number[] = [];
    let start = P;
    for (const length of responses) {
      for (let t = 0; t < P; t++) rowOf.push(t);
      for (let t = 0; t < length; t++) rowOf.push(start + t);
      start += length;
    }
    const repeat = (rows: Float64Array, width: number): Float64Array =>
      Float64Array.from(rowOf.flatMap((r) => [...rows.subarray(r * width, (r + 1) * width)]));
    const T = shared.tokenCount;
    const [q, k, v, dOut] = [draw(T * H * D), draw(T * G * D), draw(T * G * D), draw(T * H * D)];
    // The prefix rows' own gradient counts once, not once per repetition.
    const dRepeated = repeat(dOut, H * D);
    rowOf.forEach((row, t) => {
      if (row < P && t >= P) dRepeated.fill(0, t * H * D, (t + 1) * H * D);
    });

    const run = async (plan: typeof shared, arrays: readonly Float64Array[]): Promise<Bits> => {
      const [tokens, heads] = [plan.tokenCount, { q: H, k: G, v: G }];
      const upload = (name: 'q' | 'k' | 'v', values: Float64Array | undefined): DeviceArray =>
        device.upload('f32', [tokens, heads[name], D], values ?? []);
      const inputs = {
        q: upload('q', arrays[0]),
        k: upload('k', arrays[1]),
        v: upload('v', arrays[2]),
        segments: device.upload('i32', [plan.segmentCount, 3], plan.segments),
      };
      const outputs = device.forward(attention, inputs);
      const gradOutputs = { out: upload('q', arrays[3]) };
      const gradients = device.backward(attention, gradOutputs, inputs, outputs);
      const { out, lse } = outputs;
      const read = (array: DeviceArray | undefined): Promise<ArrayLike<number>> =>
        array === undefined ? Promise.resolve([]) : device.read(array);
      return {
        out: await read(out),
        lse: await read(lse),
        q: await read(gradients.q),
        k: await read(gradients.k),
        v: await read(gradients.v),
      };
    };
    const one = await run(shared, [q, k, v, dOut]);
    const many = await run(repeated, [
      repeat(q, H * D),
      repeat(k, G * D),
      repeat(v, G * D),
      dRepeated,
    ]);

    const expectedOut = repeat(Float64Array.from(one.out ?? []), H * D);
    expect(firstDifference(many.out ?? [], expectedOut)).toBe(-1);
    const lse = Float64Array.from(one.lse ?? []);
    const repeatedT = rowOf.length;
    for (let h = 0; h < H; h++) {
      const expected = rowOf.map((row) => lse[h * T + row]);
      const got = Array.from(many.lse ?? []).slice(h * repeatedT, (h + 1) * repeatedT);
      expect(got).toEqual(expected);
    }
    for (const [name, width] of [
      ['q', H * D],
      ['k', G * D],
      ['v', G * D],
    ] as const) {
      const summed = new Float64Array(T * width);
      rowOf.forEach((row, t) => {
        for (let i = 0; i < width; i++) {
          const value = many[name]?.[t * width + i] ?? Number.NaN;
          summed[row * width + i] = (summed[row * width + i] ?? 0) + value;
        }
      });
      expect(relativeError(one[name] ?? [], summed, 0.1)).toBeLessThan(2e-6);
    }
  });
});
