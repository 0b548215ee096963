/** The contract of kernels, memory and queues, on every instruction set of this machine. */
import { attentionCatalog } from '@saccade/attention';
import { attentionChecks } from '@saccade/attention/contract';
import { logprobCatalog } from '@saccade/logprob';
import { logprobChecks } from '@saccade/logprob/contract';
import { openDevice, opsCatalog } from '@saccade/ops';
import {
  type CheckOptions,
  type DeviceCheck,
  memoryChecks,
  opsChecks,
  orderChecks,
  queueChecks,
  type Subject,
} from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { type NativeBackendOptions, nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

const isSweep = process.env.SACCADE_SWEEP !== undefined;
/** The instruction set that runs by default gets the most cases. */
const casesOn = (isa: string): Pick<CheckOptions, 'caseCount' | 'fuzzCount'> => {
  const isDefault = isa === native.instructionSets.at(-1);
  if (isSweep) return { fuzzCount: isDefault ? 40 : 12 };
  return isDefault ? { fuzzCount: 6 } : { caseCount: 4, fuzzCount: 1 };
};
if (!isSweep) {
  const best = native.instructionSets.at(-1);
  console.info(`Instruction sets but ${best} have 5 cases of each op; \`npm run sweep\` has all.`);
  if (native.emulated.length === 0 && native.instructionSets.includes('avx512bf16')) {
    console.info('Pairs of bf16 run as they are here; emulated, they wait for `npm run sweep`.');
  }
}
const runs = [
  ...native.instructionSets.flatMap((isa) =>
    (['f32', 'bf16'] as const).map((dtype) => ({ isa, dtype })),
  ),
  ...native.emulated.map((isa) => ({ isa, dtype: 'bf16' as const })),
];
/** Some 100 ms on two threads. */
const BUSY = { size: 768, launches: 10 };

/** Enrols checks on a device of its own; this backend lacks nothing that they need. */
function enrol(checks: readonly DeviceCheck[], options: NativeBackendOptions): void {
  const open = () => openDevice(nativeBackend({ threads: 2, poisonWorkspaces: true, ...options }));
  const subject: Subject = { device: open(), open };
  afterAll(() => subject.device.dispose());
  for (const check of checks) it(check.name, () => check.run(subject));
}

it('has a kernel for every op, and no kernel without an op', () => {
  const ops = [...opsCatalog, ...attentionCatalog, ...logprobCatalog].map((op) => op.id);
  expect([...native.kernels].sort()).toEqual(ops.sort());
});

describe.each(runs)('on $isa in $dtype', ({ isa, dtype }) => {
  const options = { dtype, ...casesOn(isa) };
  const checks = [...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)];
  enrol(checks, { isa });
});

describe('with launches that are queued', () => {
  enrol([...memoryChecks, ...queueChecks(BUSY)], { launches: 'queued' });
});

describe('with launches that block', () => {
  const blocking = [...opsChecks({ fuzzCount: 1 }), ...memoryChecks, ...orderChecks(BUSY)];
  enrol(blocking, { launches: 'blocking' });
});
