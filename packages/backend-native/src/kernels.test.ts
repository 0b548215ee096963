/** Every kernel of the addon against its float64 oracle, on every instruction set of this machine. */
import { attentionCatalog } from '@saccade/attention';
import { checkDecodeMatchesAttention } from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import { type Op, openDevice, opsCatalog } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

const catalog: readonly Op[] = [...opsCatalog, ...attentionCatalog, ...logprobCatalog];
const runs = [
  ...native.instructionSets.flatMap((isa) =>
    (['f32', 'bf16'] as const).map((dtype) => ({ isa, dtype })),
  ),
  ...native.emulated.map((isa) => ({ isa, dtype: 'bf16' as const })),
];
const takes = (op: Op, dtype: 'f32' | 'bf16'): boolean =>
  Object.values(op.inputs).some(({ dtypes }) => dtypes.includes(dtype));
/** The instruction set that runs by default gets the most cases. */
const fuzzCount = (isa: string): number => (isa === native.instructionSets.at(-1) ? 40 : 12);

it('has a kernel for every op, and no kernel without an op', () => {
  expect([...native.kernels].sort()).toEqual(catalog.map((op) => op.id).sort());
});

describe.each(runs)('on $isa in $dtype', ({ isa, dtype }) => {
  const device = openDevice(nativeBackend({ isa, threads: 2, poisonWorkspaces: true }));
  afterAll(() => device.dispose());

  const stored = catalog.filter((op) => takes(op, dtype));

  it.each(stored.map((op) => op.id))('%s agrees with its float64 oracle', async (id) => {
    const op = catalog.find((candidate) => candidate.id === id) as Op;
    let seed = 1;
    for (const opCase of [...op.cases, ...fuzzCases(op, fuzzCount(isa), 7)]) {
      await compareWithOracle(device, op, opCase, seed++, dtype);
    }
    await checkRepeatable(device, op, op.cases.at(-1) ?? { dims: {} }, seed, dtype);
  });

  it.each(stored.filter((op) => op.part !== undefined).map((op) => op.id))(
    '%s gives a part of a batch the bits it has alone',
    async (id) => {
      const op = catalog.find((candidate) => candidate.id === id) as Op;
      let seed = 1;
      for (const opCase of [...op.cases, ...fuzzCases(op, fuzzCount(isa), 8)]) {
        await checkBatchInvariance(device, op, opCase, seed++, dtype);
      }
    },
  );

  it('samples with the log-probs of scoring, bit for bit', async () => {
    const shapes = [
      { N: 1, D: 5, V: 3, temperature: 1 },
      { N: 27, D: 40, V: 700, temperature: 0.7 },
      { N: 50, D: 400, V: 2200, temperature: 0 },
    ];
    for (const [seed, shape] of shapes.entries()) {
      await checkSampleMatchesLogprob(device, shape, seed, dtype);
    }
  });

  it('decodes with the bits of training', async () => {
    const shapes = [
      { T: 5, S: 2, H: 2, G: 1, D: 8 },
      { T: 70, S: 1, H: 4, G: 2, D: 32 },
      { T: 150, S: 5, H: 6, G: 2, D: 20 },
      { T: 200, S: 9, H: 3, G: 3, D: 64 },
      { T: 90, S: 3, H: 20, G: 2, D: 16 },
      { T: 200, S: 4, H: 4, G: 2, D: 16, window: 40 },
      { T: 300, S: 2, H: 2, G: 1, D: 8, window: 128 },
    ];
    for (const [seed, shape] of shapes.entries()) {
      await checkDecodeMatchesAttention(device, shape, seed, dtype);
    }
  });
});
