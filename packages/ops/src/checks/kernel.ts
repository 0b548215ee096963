/** Checks of one op's kernels. */
import { messageOf } from '@saccade/core';
import { checkBatchInvariance, checkRepeatable } from '../check-invariance.ts';
import { compareWithOracle } from '../compare-with-oracle.ts';
import { ContractError } from '../contract-error.ts';
import type { Device } from '../device.ts';
import { describeCase } from '../draw-inputs.ts';
import { fuzzCases } from '../fuzz-cases.ts';
import type { Op, OpCase } from '../op.ts';
import { type CheckOptions, type DeviceCheck, needsOf } from './check.ts';

/**
 * All checks of an op's kernel: it agrees with the oracle in the op's cases and in random ones,
 * gives the same bits when repeated, and gives a part of a batch the bits that it has alone.
 *
 * @returns  empty if the op stores nothing as `dtype`
 */
export function opChecks(given: Op, options: CheckOptions = {}): readonly DeviceCheck[] {
  const { dtype = 'f32', fuzzCount = 4, forwardOnly = false, caseCount } = options;
  if (!Object.values(given.inputs).some(({ dtypes }) => dtypes.includes(dtype))) return [];
  const all = forwardOnly ? forwardOf(given) : given;
  const op = caseCount === undefined ? all : { ...all, cases: spread(all.cases, caseCount) };
  const needs = needsOf(op, dtype);
  const check = (sentence: string, cases: readonly OpCase[], hold: Hold): DeviceCheck => ({
    name: `${op.id} in ${dtype} ${sentence}`,
    needs,
    async run({ device }) {
      for (const [i, opCase] of cases.entries()) {
        const seed = i + 1;
        await hold(device, opCase, seed).catch((error: unknown) => {
          if (error instanceof ContractError) throw error;
          const where = `${op.id} (${describeCase(opCase)}; ${dtype}, seed ${seed})`;
          throw new ContractError(`${where} failed: ${messageOf(error)}`, { cause: error });
        });
      }
    },
  });
  const cases = (seed: number): readonly OpCase[] => [
    ...op.cases,
    ...fuzzCases(op, fuzzCount, seed),
  ];
  const checks = [
    check('agrees with its float64 oracle', cases(7), async (device, opCase, seed) => {
      await compareWithOracle(device, op, opCase, seed, dtype);
    }),
    check('gives the same bits again', op.cases.slice(-1), (device, opCase, seed) =>
      checkRepeatable(device, op, opCase, seed, dtype),
    ),
  ];
  if (op.part === undefined) return checks;
  const part = check('gives a part of a batch the bits it has alone', cases(8), (...run) =>
    checkBatchInvariance(run[0], op, run[1], run[2], dtype),
  );
  return [...checks, part];
}

/** Takes `count` of the cases at even distances, the last among them; all if there are no more. */
function spread(cases: readonly OpCase[], count: number): readonly OpCase[] {
  const taken = Math.min(count, cases.length);
  return cases.filter(
    (_, i) => Math.floor(((i + 1) * taken) / cases.length) > Math.floor((i * taken) / cases.length),
  );
}

type Hold = (device: Device, opCase: OpCase, seed: number) => Promise<void>;

function forwardOf({ backward: _, ...forward }: Op): Op {
  return forward;
}
