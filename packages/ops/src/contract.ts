/**
 * The contracts of ops, kernels and backends, as plain functions without a test runner.
 *
 * For a backend: lists of named checks, to be run by any runner or by `runChecks`:
 *
 *   const subject = { device: openDevice(myBackend()), open: () => openDevice(myBackend()) };
 *   for (const check of [...opsChecks({ dtype: 'f32' }), ...memoryChecks, ...queueChecks(busy)]) {
 *     test(check.name, { skip: whyNot(check, subject.device.backend) }, () => check.run(subject));
 *   }
 *
 * `@saccade/attention/contract` and `@saccade/logprob/contract` have those of their ops. For one
 * op, or one case of it:
 *
 *   for (const opCase of [...op.cases, ...fuzzCases(op, 20, 1)]) {
 *     checkGradients(op, opCase, 1);                      // the oracle against itself
 *     await compareWithOracle(device, op, opCase, 1);     // a kernel against the oracle
 *     await checkRepeatable(device, op, opCase, 1);
 *     if (op.part) await checkBatchInvariance(device, op, opCase, 1);
 *   }
 *
 * All of them throw `ContractError` with the op, the case and the seed that reproduce the fault.
 */
import type { CheckOptions, DeviceCheck } from './checks/check.ts';
import { dataChecks } from './checks/data.ts';
import { opChecks } from './checks/kernel.ts';
import { opsCatalog } from './registry.ts';

export { checkGradients, type GradientReport } from './check-gradients.ts';
export { checkBatchInvariance, checkRepeatable } from './check-invariance.ts';
export {
  type CheckOptions,
  type DeviceCheck,
  listSkipped,
  type Need,
  needsOf,
  type Subject,
  whyNot,
} from './checks/check.ts';
export { expectError, expectSame } from './checks/expect.ts';
export { opChecks } from './checks/kernel.ts';
export { memoryChecks } from './checks/memory.ts';
export { type ProcessCheck, processChecks, processWork } from './checks/process.ts';
export { type BusyWork, orderChecks, queueChecks } from './checks/queue.ts';
export { type CheckResult, runChecks } from './checks/run.ts';
export { absoluteError, firstDifference, outputError, relativeError } from './compare.ts';
export { type ComparisonReport, compareWithOracle } from './compare-with-oracle.ts';
export { ContractError } from './contract-error.ts';
export {
  activationDtype,
  describeCase,
  drawInputs,
  drawNormals,
  dtypeOf,
  roundTo,
} from './draw-inputs.ts';
export { fuzzCases } from './fuzz-cases.ts';
export { type GuardedBackend, guardBackend } from './guard-backend.ts';

/** All checks of this package's ops on a backend: every kernel, also on empty and invalid data. */
export function opsChecks(options: CheckOptions = {}): readonly DeviceCheck[] {
  return [...opsCatalog.flatMap((op) => opChecks(op, options)), ...dataChecks(options)];
}
