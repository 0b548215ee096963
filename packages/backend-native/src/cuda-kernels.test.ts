/** The contract of kernels, memory and queues on CUDA: in emulation at small shapes, and on a device. */
import { attentionCatalog } from '@saccade/attention';
import { attentionChecks } from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { logprobChecks } from '@saccade/logprob/contract';
import { openDevice, opsCatalog } from '@saccade/ops';
import {
  type DeviceCheck,
  memoryChecks,
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
const BUSY = { emulated: { size: 64, launches: 4 }, device: { size: 2048, launches: 100 } };

/** Enrols checks on a device of its own; this backend lacks nothing that they need. */
function enrol(checks: readonly DeviceCheck[], { options }: Pick<CudaTarget, 'options'>): void {
  const open = () => openDevice(cudaBackend({ ...options, poisonWorkspaces: true }));
  const subject: Subject = { device: open(), open };
  afterAll(() => subject.device.dispose());
  for (const check of checks) it(check.name, () => check.run(subject));
}

it('has a kernel for every op, and no kernel without an op', () => {
  const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].map((op) => op.id);
  expect([...kernels].sort()).toEqual(ops.sort());
});

/** Ops whose kernels take other tiles on Hopper. */
const ON_HOPPER = /^(gemm|expertLinear|linear\w+|attention\w*) /;

describe('on emulated Hopper', () => {
  // bf16 and f16 differ in how numbers are kept and in nothing else: in the sweep each has all checks.
  for (const dtype of isSweep ? (['bf16', 'f16'] as const) : (['bf16'] as const)) {
    const options = { dtype, ...(isSweep ? { fuzzCount: 2 } : { caseCount: 2, fuzzCount: 1 }) };
    const checks = [...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)];
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
    const isBrief = target.label === 'emulated' && dtype !== 'f32';
    const few = { caseCount: isBrief ? 1 : 3, fuzzCount: isBrief ? 0 : 1 };
    const isShort = target.label === 'emulated' && !isSweep;
    const options = { dtype, ...(isShort ? few : { fuzzCount: FUZZ[target.label] }) };
    const checks = [...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)];
    enrol(isBrief ? checks.filter(({ name }) => name.endsWith('oracle')) : checks, target);
  }
  enrol([...memoryChecks, ...queueChecks(BUSY[target.label])], target);
});
