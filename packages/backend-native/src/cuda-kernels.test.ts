/** The contract of kernels, memory and queues on CUDA: in emulation at small shapes, and on a device. */
import { attentionCatalog } from '@saccade/attention';
import {
  attentionChecks,
  checkDecodeMatchesAttention,
  checkNaNStaysInItsTree,
  checkSharedPrefix,
  checkSharedPrefixGradients,
} from '@saccade/attention/contract';
import type { DType } from '@saccade/core';
import { logprobCatalog } from '@saccade/logprob';
import { checkSampleMatchesLogprob, logprobChecks } from '@saccade/logprob/contract';
import { type Device, type OpCase, openDevice, opsCatalog } from '@saccade/ops';
import {
  type CheckOptions,
  type DeviceCheck,
  memoryChecks,
  opChecks,
  opsChecks,
  queueChecks,
  type Subject,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type CudaTarget, hopper, kernels, targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 600_000 });
const isSweep = process.env.SACCADE_SWEEP !== undefined;
/** Random cases of every op. */
const FUZZ = { emulated: 2, device: 40 };
/** Some 100 ms. */
const BUSY = { emulated: { size: 32, launches: 4 }, device: { size: 2048, launches: 100 } };

const catalog = [...opsCatalog, ...attentionCatalog, ...logprobCatalog];
const checksOf = (options: CheckOptions): readonly DeviceCheck[] => [
  ...opsChecks(options),
  ...attentionChecks(options),
  ...logprobChecks(options),
];

/** Cases of the ops that cost an emulated thread most: the borders of tiles and blocks, and little more. */
const SMALL: Readonly<Record<string, readonly OpCase[]>> = {
  attention: [
    { dims: { T: 17, H: 8, G: 2, D: 16, S: 4, P: 3 } },
    { dims: { T: 65, H: 2, G: 2, D: 32, S: 6, P: 3 }, scalars: { causal: 0, scale: 0.5 } },
    { dims: { T: 66, H: 2, G: 1, D: 3, S: 3, P: 3 }, scalars: { window: 20 } },
  ],
  linearLogprob: [
    { dims: { N: 5, D: 33, V: 63 }, scalars: { temperature: 0.7 } },
    // Two chunks of the vocabulary; then more than a tile of rows, and of entries.
    { dims: { N: 3, D: 16, V: 1101 } },
    { dims: { N: 65, D: 17, V: 130 } },
  ],
};

/** Checks of shapes of their own, by how their sentence ends, at shapes that an emulated thread can do. */
const SMALLER: Readonly<Record<string, (device: Device, dtype: DType) => Promise<void>>> = {
  'gives the bits of attention': async (device, dtype) => {
    for (const [seed, shape] of [
      { T: 70, S: 1, H: 4, G: 2, D: 20 },
      { T: 90, S: 5, H: 20, G: 2, D: 8 },
      { T: 150, S: 4, H: 2, G: 1, D: 8, window: 40 },
    ].entries()) {
      await checkDecodeMatchesAttention(device, shape, seed, dtype);
    }
  },
  'gives a shared prefix the bits of the repeated one': async (device, dtype) => {
    for (const shape of PREFIXES) await checkSharedPrefix(device, shape, 3, dtype);
  },
  'gives a shared prefix the gradients of the repeated one, summed': async (device, dtype) => {
    for (const shape of PREFIXES.slice(1))
      await checkSharedPrefixGradients(device, shape, 3, dtype);
  },
  'keeps NaN out of the gradients of other sequences': (device, dtype) =>
    checkNaNStaysInItsTree(device, { window: 10 }, 5, dtype),
  'records the log-probs of linearLogprob, bit for bit': async (device, dtype) => {
    for (const [seed, shape] of [
      { N: 1, D: 5, V: 3, temperature: 1 },
      { N: 27, D: 20, V: 700, temperature: 0.7 },
      { N: 5, D: 70, V: 2200, temperature: 0 },
    ].entries()) {
      await checkSampleMatchesLogprob(device, shape, seed, dtype);
    }
  },
};
/** Ends inside blocks of keys, and a window that ends in the prefix. */
const PREFIXES = [
  { prefix: 70, responses: [40, 7], H: 2, G: 1, D: 8 },
  { prefix: 70, responses: [9, 33], H: 4, G: 2, D: 8, window: 50 },
];

/** All checks, with fewer and smaller cases of what takes an emulated thread longest; no random ones. */
function smallChecks(dtype: DType, caseCount: number): readonly DeviceCheck[] {
  const options = { dtype, caseCount, fuzzCount: 0 };
  const own = new Map(
    catalog
      .filter(({ id }) => SMALL[id] !== undefined)
      .flatMap((op) => {
        const cases = SMALL[op.id]?.slice(-caseCount) ?? [];
        return opChecks({ ...op, cases }, { dtype, fuzzCount: 0 });
      })
      .map((check) => [check.name, check]),
  );
  return checksOf(options).map((check) => {
    const { name } = check;
    const [, run] = Object.entries(SMALLER).find(([end]) => name.endsWith(end)) ?? [];
    if (run !== undefined) return { ...check, run: ({ device }) => run(device, dtype) };
    return own.get(name) ?? check;
  });
}
if (!isSweep) {
  console.info('Emulated kernels have few cases, none at random; `npm run sweep` has all.');
}

/** Enrols checks on a device of its own; this backend lacks nothing that they need. */
function enrol(checks: readonly DeviceCheck[], { options }: Pick<CudaTarget, 'options'>): void {
  const open = () => openDevice(cudaBackend({ ...options, poisonWorkspaces: true }));
  const subject: Subject = { device: open(), open };
  afterAll(() => subject.device.dispose());
  for (const check of checks) it(check.name, () => check.run(subject));
}

it('has a kernel for every op, and no kernel without an op', () => {
  expect([...kernels].sort()).toEqual(catalog.map((op) => op.id).sort());
});

/** Ops whose kernels take other tiles on Hopper. */
const ON_HOPPER = /^(gemm|expertLinear|linear\w+|attention\w*) /;

describe('on emulated Hopper', () => {
  // bf16 and f16 differ in how numbers are kept and in nothing else: in the sweep each has all checks.
  for (const dtype of isSweep ? (['bf16', 'f16'] as const) : (['bf16'] as const)) {
    const checks = isSweep ? checksOf({ dtype, fuzzCount: 2 }) : smallChecks(dtype, 2);
    enrol(
      checks.filter(({ name }) => ON_HOPPER.test(name)),
      hopper,
    );
  }
});

describe.each(targets)('on $label', (target) => {
  for (const dtype of ['f32', 'bf16', 'f16'] as const) {
    // Storage types differ in how numbers are kept and in nothing else: on emulated threads, which
    // take minutes, those of half the size are compared with the oracle and no more.
    const isEmulated = target.label === 'emulated';
    const isBrief = isEmulated && dtype !== 'f32';
    const isShort = isEmulated && !isSweep;
    const checks = isShort
      ? smallChecks(dtype, isBrief ? 1 : 3)
      : checksOf({ dtype, fuzzCount: FUZZ[target.label] });
    enrol(isBrief ? checks.filter(({ name }) => name.endsWith('oracle')) : checks, target);
  }
  enrol([...memoryChecks, ...queueChecks(BUSY[target.label])], target);
});
