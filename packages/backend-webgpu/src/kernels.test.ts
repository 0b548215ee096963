/** The contract of kernels, memory and queues on WebGPU in Node, in small cases: it may be software. */
import { attention, attentionCatalog } from '@saccade/attention';
import {
  checkDecodeMatchesAttention,
  checkSharedPrefixGradients,
} from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import { type Device, opsCatalog } from '@saccade/ops';
import {
  compareWithOracle,
  type DeviceCheck,
  listSkipped,
  type Subject,
  whyNot,
} from '@saccade/ops/contract';
import { webGpuKernels } from '@saccade/webgpu-kernels';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { contractChecks, openSubject } from './contract.fixture.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();
const isSweep = process.env.SACCADE_SWEEP !== undefined;
// Software adapters take a second or more to compile a large shader; a busy machine, several.
vi.setConfig({ testTimeout: 600_000 });

/** Ops whose largest case alone is run; `npm run sweep` has the others. */
const ONCE = /^(expertLinear|linearLogprob|linearSampleTruncated) in f32 agrees /;

/** The size of most heads: each size compiles shaders of its own, for half a minute. */
const HEAD = 32;
/** Checks over several shapes, with fewer. */
const FEWER: Readonly<Record<string, (device: Device) => Promise<void>>> = {
  'attention in f32 agrees with its float64 oracle': async (device) => {
    for (const [seed, opCase] of [
      { dims: { T: 65, H: 2, G: 2, D: HEAD, S: 6, P: 3 } },
      { dims: { T: 180, H: 4, G: 2, D: HEAD, S: 6, P: 3 }, scalars: { window: 20 } },
      // Numbers that are read one by one.
      { dims: { T: 17, H: 2, G: 1, D: 3, S: 3, P: 3 }, scalars: { causal: 0 } },
    ].entries()) {
      await compareWithOracle(device, attention, opCase, seed);
    }
  },
  'attention in f32 gives a shared prefix the gradients of the repeated one, summed': (device) =>
    checkSharedPrefixGradients(
      device,
      { prefix: 70, responses: [33, 80], H: 4, G: 2, D: HEAD, window: 50 },
      3,
    ),
  'attentionDecode in f32 gives the bits of attention': async (device) => {
    for (const [seed, shape] of [
      { T: 90, S: 3, H: 20, G: 2, D: HEAD },
      { T: 150, S: 5, H: 6, G: 2, D: 20, window: 40 },
    ].entries()) {
      await checkDecodeMatchesAttention(device, shape, seed);
    }
  },
  'linearSample in f32 records the log-probs of linearLogprob, bit for bit': async (device) => {
    for (const [seed, shape] of [
      { N: 1, D: 5, V: 3, temperature: 1 },
      { N: 27, D: 40, V: 2200, temperature: 0.7 },
    ].entries()) {
      await checkSampleMatchesLogprob(device, shape, seed);
    }
  },
};

function fewChecks(): readonly DeviceCheck[] {
  const once = contractChecks({ caseCount: 1, fuzzCount: 0 });
  return contractChecks({ caseCount: 2, fuzzCount: 0 }).map((check, i) => {
    const run = FEWER[check.name];
    if (run !== undefined) return { ...check, run: ({ device }) => run(device) };
    return ONCE.test(check.name) ? (once[i] ?? check) : check;
  });
}

it('has a kernel for every op, and no kernel without an op', () => {
  const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].map((op) => op.id);
  const kernels = webGpuKernels.map((kernel) => kernel.op);
  const missing = ops.filter((id) => !kernels.includes(id));
  expect(missing, `There is no WebGPU kernel yet of: ${missing.join(', ')}.`).toEqual([]);
  expect(kernels.filter((id) => !ops.includes(id))).toEqual([]);
});

describe.skipIf(!probe.available)('in Node', () => {
  // Most cases compile shaders of their own, for seconds.
  const checks = isSweep ? contractChecks({ fuzzCount: 2 }) : fewChecks();
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
