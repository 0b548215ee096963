/** Every WebGPU kernel against its float64 oracle, in small cases: tests run on the CPU too. */
import { attentionCatalog } from '@saccade/attention';
import { checkDecodeMatchesAttention } from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import { type Device, type Op, openDevice, opsCatalog } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();
// Software adapters take a second or more to compile a large shader; a busy machine, several.
vi.setConfig({ testTimeout: 600_000 });
const catalogs: Readonly<Record<string, readonly Op[]>> = {
  ops: opsCatalog,
  attention: attentionCatalog,
  logprob: logprobCatalog,
};
const all = Object.values(catalogs).flat();
const find = (id: string): Op => all.find((op) => op.id === id) as Op;
const built = (op: Op): boolean => webGpuKernels.some((kernel) => kernel.op === op.id);
const builtIds = (...ids: readonly string[]): boolean =>
  ids.every((id) => webGpuKernels.some((kernel) => kernel.op === id));

/** Rounds of random cases; software adapters do some 10⁹ operations per second. */
const FUZZ = 4;

/** 16-bit storage where the adapter has it, which software adapters do not. */
const dtypes = ['f32', 'f16'].filter(
  (dtype): dtype is 'f32' | 'f16' =>
    dtype === 'f32' || (probe.available && probe.features.includes('shader-f16')),
);
const runs = Object.keys(catalogs).flatMap((catalog) =>
  dtypes.map((dtype) => ({ catalog, dtype })),
);
const takes = (op: Op, dtype: 'f32' | 'f16'): boolean =>
  Object.values(op.inputs).some((operand) => operand.dtypes.includes(dtype));

it('has a kernel for every op, and no kernel without an op', () => {
  const ids = webGpuKernels.map((kernel) => kernel.op);
  const missing = all.filter((op) => !ids.includes(op.id)).map((op) => op.id);
  expect(missing, `There is no WebGPU kernel yet of: ${missing.join(', ')}.`).toEqual([]);
  expect(ids.filter((id) => !all.some((op) => op.id === id))).toEqual([]);
});

describe.skipIf(!probe.available).each(runs)('kernels of $catalog in $dtype', (run) => {
  const { catalog, dtype } = run;
  const ops = (catalogs[catalog] ?? []).filter((op) => built(op) && takes(op, dtype));
  let device: Device;
  beforeAll(async () => {
    device = openDevice(await webgpuBackend({ poisonWorkspaces: true }));
  });
  afterAll(() => device.dispose());

  it.each(ops.map((op) => op.id))('%s agrees with its float64 oracle', async (id) => {
    const op = find(id);
    let seed = 1;
    for (const opCase of [...op.cases, ...fuzzCases(op, FUZZ, 7)]) {
      await compareWithOracle(device, op, opCase, seed++, dtype);
    }
    await checkRepeatable(device, op, op.cases.at(-1) ?? { dims: {} }, seed, dtype, 3);
  });

  it.each(ops.filter((op) => op.part !== undefined).map((op) => op.id))(
    '%s gives a part of a batch the bits it has alone',
    async (id) => {
      const op = find(id);
      let seed = 1;
      for (const opCase of [...op.cases, ...fuzzCases(op, FUZZ, 8)]) {
        await checkBatchInvariance(device, op, opCase, seed++, dtype);
      }
    },
  );

  it.runIf(catalog === 'logprob' && builtIds('linearLogprob', 'linearSample'))(
    'samples with the log-probs of scoring, bit for bit',
    async () => {
      const shapes = [
        { N: 1, D: 5, V: 3, temperature: 1 },
        { N: 27, D: 40, V: 700, temperature: 0.7 },
        { N: 9, D: 70, V: 300, temperature: 0 },
      ];
      for (const [seed, shape] of shapes.entries()) {
        await checkSampleMatchesLogprob(device, shape, seed, dtype);
      }
    },
  );

  it.runIf(catalog === 'attention' && builtIds('attention', 'attentionDecode'))(
    'decodes with the bits of training',
    async () => {
      const shapes = [
        { T: 5, S: 2, H: 2, G: 1, D: 8 },
        { T: 70, S: 1, H: 4, G: 2, D: 32 },
        { T: 90, S: 5, H: 6, G: 2, D: 20 },
        { T: 100, S: 4, H: 4, G: 2, D: 16, window: 40 },
      ];
      for (const [seed, shape] of shapes.entries()) {
        await checkDecodeMatchesAttention(device, shape, seed, dtype);
      }
    },
  );
});
