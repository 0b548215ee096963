/** The contract of kernels, memory and queues on CUDA: emulated in small cases, and on a device. */
import { attentionCatalog } from '@saccade/attention';
import { attentionChecks } from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { logprobChecks } from '@saccade/logprob/contract';
import { openDevice, opsCatalog } from '@saccade/ops';
import {
  type DeviceCheck,
  listSkipped,
  memoryChecks,
  opsChecks,
  queueChecks,
  type Subject,
  whyNot,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type CudaTarget, kernels, targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 600_000 });

/** Random cases of every op, and work of some 100 ms. */
const EFFORT = {
  emulated: { fuzzCount: 2, busy: { size: 64, launches: 10 } },
  device: { fuzzCount: 40, busy: { size: 2048, launches: 100 } },
};
const runs = targets.flatMap((target) =>
  (['f32', 'bf16', 'f16'] as const).map((dtype) => ({ ...target, dtype })),
);

/** Enrols checks on a device of its own, those of launches that it has kernels for. */
function enrol(checks: readonly DeviceCheck[], { options }: CudaTarget): void {
  const open = () => openDevice(cudaBackend({ poisonWorkspaces: true, ...options }));
  const subject: Subject = { device: open(), open };
  afterAll(() => subject.device.dispose());
  const skipped = listSkipped(checks, subject.device.backend);
  if (skipped !== undefined) console.warn(skipped);
  for (const check of checks) {
    it(check.name, async (context) => {
      const reason = whyNot(check, subject.device.backend);
      if (reason !== undefined) context.skip(reason);
      await check.run(subject);
    });
  }
}

it('has a kernel for every op, and no kernel without an op', () => {
  const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].map(({ id }) => id);
  expect([...kernels].sort()).toEqual(ops.sort());
});

describe.each(runs)('$label in $dtype', (run) => {
  const options = { dtype: run.dtype, fuzzCount: EFFORT[run.label].fuzzCount };
  enrol([...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)], run);
});

describe.each(targets)('$label', (target) => {
  enrol([...memoryChecks, ...queueChecks(EFFORT[target.label].busy)], target);
});
