/** The checks of the contract for this backend: the same list in Node and in a browser. */
import { attentionChecks } from '@saccade/attention/contract';
import { logprobChecks } from '@saccade/logprob/contract';
import { type Device, openDevice } from '@saccade/ops';
import {
  type CheckOptions,
  type DeviceCheck,
  memoryChecks,
  opsChecks,
  queueChecks,
  type Subject,
} from '@saccade/ops/contract';
import { webgpuBackend } from './index.ts';

/** Software adapters do some 10⁹ operations per second. */
const BUSY = { size: 128, launches: 10 };

/** All checks; the options say how many cases of every op they take. */
export function contractChecks(
  cases: Pick<CheckOptions, 'caseCount' | 'fuzzCount'>,
): readonly DeviceCheck[] {
  return [
    // 16-bit floats only if the adapter has them; software adapters do not.
    ...(['f32', 'f16'] as const).flatMap((dtype) => {
      const options = { dtype, ...cases };
      return [...opsChecks(options), ...attentionChecks(options), ...logprobChecks(options)];
    }),
    ...memoryChecks,
    ...queueChecks(BUSY),
  ];
}

/** The subject of the checks. */
export async function openSubject(): Promise<Subject> {
  const open = async (): Promise<Device> =>
    openDevice(await webgpuBackend({ poisonWorkspaces: true }));
  return { device: await open(), open };
}
