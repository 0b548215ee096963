/** What is checked of the gpu.js backend wherever it runs: in Node and in a browser. */
import { attention } from '@saccade/attention';
import { linearLogprob } from '@saccade/logprob';
import type { Device, Op } from '@saccade/ops';
import {
  checkBatchInvariance,
  checkRepeatable,
  compareWithOracle,
  fuzzCases,
} from '@saccade/ops/contract';

/** The ops with a kernel, as they are without their backward. */
export const forwardOps: readonly Op[] = [attention, linearLogprob].map(
  ({ backward: _, ...forward }) => forward,
);

export interface CheckedOp {
  readonly op: string;
  readonly cases: number;
  readonly maxError: number;
  readonly milliseconds: number;
}

/** Holds an op against its oracle, and a part of a batch against the part alone, in all its cases. */
export async function checkOp(device: Device, op: Op, fuzzCount: number): Promise<CheckedOp> {
  const start = performance.now();
  const cases = [...op.cases, ...fuzzCases(op, fuzzCount, 7)];
  let maxError = 0;
  let seed = 1;
  for (const opCase of cases) {
    const report = await compareWithOracle(device, op, opCase, seed, 'f32');
    maxError = Math.max(maxError, report.maxError);
    if (op.part !== undefined) await checkBatchInvariance(device, op, opCase, seed, 'f32');
    seed++;
  }
  await checkRepeatable(device, op, op.cases.at(-1) ?? { dims: {} }, seed, 'f32', 2);
  const milliseconds = Math.round(performance.now() - start);
  return { op: op.id, cases: cases.length, maxError, milliseconds };
}
