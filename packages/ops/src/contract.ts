/**
 * What every op and every kernel must keep, as plain functions without a test runner:
 *
 *   for (const opCase of [...op.cases, ...fuzzCases(op, 20, 1)]) {
 *     checkGradients(op, opCase, 1);                      // the oracle against itself
 *     await compareWithOracle(device, op, opCase, 1);     // a kernel against the oracle
 *     await checkRepeatable(device, op, opCase, 1);
 *     if (op.part) await checkBatchInvariance(device, op, opCase, 1);
 *   }
 *
 * All of them throw `ContractError` with the op, the case and the seed that show the fault.
 */
import { randomAt } from '@saccade/core';
import type { Op, OpCase } from './op.ts';

export { checkGradients, type GradientReport } from './check-gradients.ts';
export { checkBatchInvariance, checkRepeatable } from './check-invariance.ts';
export { absoluteError, firstDifference, outputError, relativeError } from './compare.ts';
export { type ComparisonReport, compareWithOracle } from './compare-with-oracle.ts';
export { ContractError } from './contract-error.ts';
export { describeCase, drawInputs, drawNormals, dtypeOf, roundTo } from './draw-inputs.ts';
export { type GuardedBackend, guardBackend } from './guard-backend.ts';

/** `count` random cases; an op without a generator of its own gives its fixed cases again. */
export function fuzzCases(op: Op, count: number, seed: number): readonly OpCase[] {
  const random = randomAt(seed, 'fuzz', op.id);
  return Array.from({ length: count }, () => op.fuzz?.(random) ?? random.pick(op.cases));
}
