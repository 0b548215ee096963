/** The contract of kernels, memory and queues on WebGPU in Node, in small cases: it may be software. */
import { attentionCatalog } from '@saccade/attention';
import { logprobCatalog } from '@saccade/logprob';
import { opsCatalog } from '@saccade/ops';
import { listSkipped, type Subject, whyNot } from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { contractChecks, openSubject } from './contract.fixture.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();
const isSweep = process.env.SACCADE_SWEEP !== undefined;
// Software adapters take a second or more to compile a large shader; a busy machine, several.
vi.setConfig({ testTimeout: 600_000 });

it('has a kernel for every op, and no kernel without an op', () => {
  const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].map((op) => op.id);
  const kernels = webGpuKernels.map((kernel) => kernel.op);
  const missing = ops.filter((id) => !kernels.includes(id));
  expect(missing, `There is no WebGPU kernel yet of: ${missing.join(', ')}.`).toEqual([]);
  expect(kernels.filter((id) => !ops.includes(id))).toEqual([]);
});

describe.skipIf(!probe.available)('in Node', () => {
  // Most cases compile shaders of their own, for seconds.
  const checks = contractChecks(isSweep ? { fuzzCount: 2 } : { caseCount: 2, fuzzCount: 0 });
  let subject: Subject;
  beforeAll(async () => {
    subject = await openSubject();
    const skipped = listSkipped(checks, subject.device.backend);
    if (skipped !== undefined) console.warn(skipped);
  });
  afterAll(() => subject.device.dispose());

  for (const check of checks) {
    it(check.name, async (context) => {
      const reason = whyNot(check, subject.device.backend);
      if (reason !== undefined) context.skip(reason);
      await check.run(subject);
    });
  }
});
