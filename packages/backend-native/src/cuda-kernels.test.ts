/** Every CUDA kernel against its float64 oracle: in emulation at small shapes, and on a device. */
import { checkDecodeMatchesAttention } from '@saccade/attention/contract';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import { type Op, openDevice } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { kernels, missing, ops, takes, targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 600_000 });
/** Rounds of random cases. */
const FUZZ = { emulated: 3, device: 40 };

const runs = targets.flatMap(({ label, options }) =>
  (['f32', 'bf16', 'f16'] as const).map((dtype) => ({ label, options, dtype })),
);
const has = (...ids: readonly string[]): boolean => ids.every((id) => kernels.includes(id));

it('has no kernel without an op', () => {
  if (missing.length > 0) console.info(`There is no CUDA kernel of: ${missing.join(', ')}.`);
  expect(kernels.filter((id) => !ops.some((op) => op.id === id))).toEqual([]);
});

describe.each(runs)('$label in $dtype', ({ label, options, dtype }) => {
  const device = openDevice(cudaBackend({ ...options, poisonWorkspaces: true }));
  afterAll(() => device.dispose());

  const stored = ops.filter((op) => takes(op, dtype));
  const find = (id: string): Op => ops.find((op) => op.id === id) as Op;
  const fuzz = label === 'device' ? FUZZ.device : FUZZ.emulated;

  it.each(stored.map((op) => op.id))('%s agrees with its float64 oracle', async (id) => {
    const op = find(id);
    let seed = 1;
    for (const opCase of [...op.cases, ...fuzzCases(op, fuzz, 7)]) {
      await compareWithOracle(device, op, opCase, seed++, dtype);
    }
    await checkRepeatable(device, op, op.cases.at(-1) ?? { dims: {} }, seed, dtype, 3);
  });

  it.each(stored.filter((op) => op.part !== undefined).map((op) => op.id))(
    '%s gives a part of a batch the bits it has alone',
    async (id) => {
      const op = find(id);
      let seed = 1;
      for (const opCase of [...op.cases, ...fuzzCases(op, fuzz, 8)]) {
        await checkBatchInvariance(device, op, opCase, seed++, dtype);
      }
    },
  );

  it.runIf(has('linearLogprob', 'linearSample'))(
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

  it.runIf(has('attention', 'attentionDecode'))('decodes with the bits of training', async () => {
    const shapes = [
      { T: 5, S: 2, H: 2, G: 1, D: 8 },
      { T: 70, S: 1, H: 4, G: 2, D: 32 },
      { T: 90, S: 5, H: 6, G: 2, D: 20 },
      { T: 100, S: 4, H: 4, G: 2, D: 16, window: 40 },
    ];
    for (const [seed, shape] of shapes.entries()) {
      await checkDecodeMatchesAttention(device, shape, seed, dtype);
    }
  });
});
