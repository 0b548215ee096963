/**
 * Kernels on devices with small bindings. Devices without subgroups and with little workgroup memory
 * are in compile.test.ts: there is no other text for those with more.
 */
import { attentionCatalog } from '@saccade/attention';
import { logprobCatalog } from '@saccade/logprob';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import {
  type Device,
  type Op,
  type OpCase,
  openDevice,
  opsCatalog,
  weightDims,
} from '@saccade/ops';
import { checkBatchInvariance, compareWithOracle } from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();
const isSweep = process.env.SACCADE_SWEEP !== undefined;
// Software adapters take a second or more to compile a large shader; a busy machine, several.
vi.setConfig({ testTimeout: 600_000 });
const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].filter((op) =>
  webGpuKernels.some((kernel) => kernel.op === op.id),
);

/** Dims of N values in blocks of 256: their codes, four per word, and scales. */
const blocks = (N: number) => ({ N, W: Math.ceil(N / 4), K: Math.ceil(N / 256), T: 256 });

/** Cases for bindings of 64 KiB: every matrix is bound in slices, with a remainder. */
const SLICED: Readonly<Record<string, readonly OpCase[]>> = {
  adamwStep: [{ dims: { N: 40_003, U: 1 }, scalars: { maxNorm: 1, step: 5 } }],
  add: [{ dims: { N: 150, D: 129 } }, { dims: { N: 150, D: 132 } }],
  // q, k, v and the gradients in two or three slices each.
  attention: [
    { dims: { T: 300, H: 4, G: 2, D: 32, S: 7, P: 3 } },
    { dims: { T: 300, H: 2, G: 2, D: 35, S: 1, P: 3 }, scalars: { window: 40 } },
  ],
  axpby: [{ dims: { N: 40_003 }, scalars: { a: 0.1, b: 0.9 } }],
  // A cache of two slices; then heads of q of two.
  attentionDecode: [
    { dims: { N: 3, H: 4, G: 1, D: 34, C: 600, R: 4, U2: 2, O: 4 } },
    { dims: { N: 40, H: 16, G: 1, D: 32, C: 40, R: 40, U2: 2, O: 41 } },
  ],
  attentionDecodeWide: [
    { dims: { N: 3, H: 4, G: 1, D: 34, C: 600, R: 4, U2: 2, O: 4 } },
    { dims: { N: 40, H: 16, G: 1, D: 32, C: 40, R: 40, U2: 2, O: 41 } },
  ],
  cacheRows: [{ dims: { C: 150, D: 150, N: 150 } }],
  dequantizeBlocks: [{ dims: blocks(70_003) }],
  embedding: [{ dims: { V: 150, D: 150, E: 10, N: 200 } }],
  expertLinear: [{ dims: { R: 300, K: 66, E: 9, N: 70 } }],
  gatherRows: [{ dims: { N: 150, D: 150, R: 150 } }],
  gelu: [{ dims: { N: 150, D: 129 } }],
  gemm: [
    { dims: { M: 150, K: 132, N: 140 } },
    { dims: { M: 20, K: 40, N: 450 } },
    { dims: { M: 450, K: 40, N: 20 }, without: ['b'] },
  ],
  // Codes in two or three slices; then rows.
  gemmQuantized: [
    { dims: { M: 5, ...weightDims(330, 404, { bits: 4, group: 128 }) } },
    { dims: { M: 150, ...weightDims(70, 140, { bits: 8, group: 140 }) }, without: ['b'] },
  ],
  gradNorm: [{ dims: { N: 40_003, U: 1 } }],
  layerNorm: [{ dims: { N: 150, D: 129 } }],
  linearLogprob: [{ dims: { N: 150, D: 40, V: 700 } }],
  linearSample: [{ dims: { N: 150, D: 40, V: 700, Q: 4 } }],
  // Only the weight is bound in slices: the logits of a block of rows are in one binding.
  linearSampleTruncated: [
    { dims: { N: 30, D: 40, V: 500, Q: 4 }, scalars: { topK: 40, topP: 0.9, minP: 0.01 } },
  ],
  mergeStates: [{ dims: { T: 300, H: 2, D: 33 } }],
  quantizeBlocks: [{ dims: blocks(70_003) }],
  quantizeWeight: [{ dims: weightDims(70, 401, { bits: 4, group: 64 }) }],
  rmsNorm: [{ dims: { N: 150, D: 129 } }],
  rotary: [{ dims: { T: 150, H: 4, D: 34, E: 17 } }],
  scaleColumns: [{ dims: { N: 150, D: 129 } }],
  routeExperts: [{ dims: { T: 300, E: 70, K: 5 } }],
  scatterRows: [{ dims: { C: 150, D: 150, N: 150 } }],
  sign: [{ dims: { N: 40_003 } }],
  swiglu: [{ dims: { N: 150, D: 129 } }],
  weightedSum: [{ dims: { N: 150, K: 3, D: 129 } }],
};

/** Ops whose shaders take most of a minute to compile. */
const COSTLY = /^(attention|attentionDecode|expertLinear|linearLogprob|linearSampleTruncated)$/;
describe.skipIf(!probe.available)('on 64 KiB bindings', () => {
  let device: Device;
  beforeAll(async () => {
    device = openDevice(await webgpuBackend({ bindingBytes: 65_536, poisonWorkspaces: true }));
  });
  afterAll(() => device.dispose());

  it('has a case for every op that binds slices', () => {
    expect(Object.keys(SLICED).sort()).toEqual(ops.map((op) => op.id).sort());
  });

  it.for(Object.keys(SLICED))('%s binds slices', async (id, context) => {
    if (!isSweep && COSTLY.test(id)) return context.skip('its shaders wait for `npm run sweep`');
    const op = ops.find((candidate) => candidate.id === id) as Op;
    let seed = 3;
    // Every case compiles shaders of its own, for seconds.
    for (const opCase of (SLICED[id] ?? []).slice(0, isSweep ? undefined : 1)) {
      await compareWithOracle(device, op, opCase, seed++);
      if (op.part !== undefined) await checkBatchInvariance(device, op, opCase, seed++);
    }
  });

  it('samples with the log-probs of scoring', async () => {
    await checkSampleMatchesLogprob(device, { N: 150, D: 40, V: 700, temperature: 0.9 }, 1);
  });

  it('adds up the gradient of a small weight over chunks of rows', async () => {
    const gemm = opsCatalog.find((op) => op.id === 'gemm') as Op;
    await compareWithOracle(device, gemm, { dims: { M: 2100, K: 5, N: 3 } }, 4);
  });

  it('names the limit where an array cannot be sliced', () => {
    const gemm = opsCatalog.find((op) => op.id === 'gemm') as Op;
    const x = device.alloc('f32', [1, 20_000]);
    expect(() => device.forward(gemm, { x, w: x })).toThrow(
      /gemm: array left of the shader "gemm", x \[M 1, K 20000\], has 80000 bytes; .* 65536 at once/,
    );
  });
});
