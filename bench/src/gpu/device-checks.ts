/** The contract of a device, as the tests of its backend hold it to it, without a test runner. */
import { attentionChecks } from '@saccade/attention/contract';
import { CudaError } from '@saccade/backend-native';
import { type DType, messageOf } from '@saccade/core';
import { logprobChecks } from '@saccade/logprob/contract';
import type { Device } from '@saccade/ops';
import {
  type CheckResult,
  type DeviceCheck,
  memoryChecks,
  opsChecks,
  queueChecks,
  runChecks,
  type Subject,
} from '@saccade/ops/contract';
import type { Ledger } from './ledger.ts';

export interface CheckSelection {
  readonly dtype: DType;
  /** Random cases of every op beside its fixed ones. */
  readonly fuzzCount: number;
  /** Only checks whose name holds all these words. */
  readonly filter?: string;
  /** A slow device waits for less. */
  readonly emulated: boolean;
}

/** Every op in one storage type; memory and queue with float32. */
export function deviceChecks(selection: CheckSelection): readonly DeviceCheck[] {
  const { dtype, fuzzCount, filter = '', emulated } = selection;
  const options = { dtype, fuzzCount };
  const busy = emulated ? { size: 64, launches: 4 } : { size: 2048, launches: 100 };
  const all = [
    ...opsChecks(options),
    ...attentionChecks(options),
    ...logprobChecks(options),
    ...(dtype === 'f32' ? [...memoryChecks, ...queueChecks(busy)] : []),
  ];
  return all.filter(({ name }) => hasWords(name, filter));
}

/** Whether a text holds all words of a filter, in whatever case. */
export function hasWords(text: string, filter: string): boolean {
  const lower = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

export const failedCheck = (name: string, message: string): CheckResult => ({
  name,
  outcome: 'failed',
  message,
  milliseconds: 0,
});

export interface CheckLimits {
  /** For all; no check begins after it. */
  readonly seconds: number;
  /** A check that takes longer hangs. */
  readonly limitSeconds: number;
}

/**
 * Runs those checks that the ledger does not have yet, until the time is up.
 *
 * @returns whether the ledger is complete; not where the device was lost, which only another process
 *   can open again
 */
export async function runDeviceChecks(
  checks: readonly DeviceCheck[],
  subject: Subject,
  ledger: Ledger<CheckResult>,
  { seconds, limitSeconds }: CheckLimits,
  onResult: (latest: CheckResult) => void = () => {},
): Promise<boolean> {
  const end = performance.now() + 1000 * seconds;
  const known = new Set(ledger.entries.map(({ name }) => name));
  for (const check of checks) {
    if (known.has(check.name)) continue;
    if (performance.now() > end) {
      const message = 'no time was left for it';
      ledger.add({ name: check.name, outcome: 'skipped', message, milliseconds: 0 });
      continue;
    }
    const run = (): Promise<CheckResult> => runOne(check, subject);
    const result = await ledger.run(check.name, limitSeconds, run);
    onResult(result);
    if (result.outcome === 'failed' && (await isLost(subject.device))) return false;
  }
  ledger.finish();
  return true;
}

async function runOne(check: DeviceCheck, subject: Subject): Promise<CheckResult> {
  for await (const result of runChecks([check], subject)) return result;
  return failedCheck(check.name, 'It gave no result.');
}

/** Whether nothing runs on the device any more in this process. */
export async function isLost(device: Device): Promise<boolean> {
  try {
    // A wait for nothing would not ask the driver.
    const array = device.upload('f32', [1, 1], [0]);
    await device.read(array);
    device.free(array);
  } catch (error) {
    // WebGPU says it in words; a process that continues without need costs a second.
    return error instanceof CudaError ? error.isLost : /lost/.test(messageOf(error));
  }
  return false;
}
