/** The checks of the contract for this backend: the same list in Node and in a browser. */
import { attentionChecks } from '@saccade/attention/contract';
import { logprobChecks } from '@saccade/logprob/contract';
import { type Device, openDevice } from '@saccade/ops';
import { type DeviceCheck, memoryChecks, type Subject } from '@saccade/ops/contract';
import { type GpuJsBackendOptions, gpujsBackend } from './index.ts';

/** More than the 16 WebGL contexts that Chromium keeps; beyond them it drops the oldest. */
const OPENED = 20;

const comeAndGo: DeviceCheck = {
  name: `memory: ${OPENED} backends more come and go, and the first one stays`,
  needs: [],
  async run({ device, open }) {
    for (let i = 0; i < OPENED; i++) {
      (await open()).dispose();
      // gpu.js releases a context in a separate task.
      await new Promise((done) => setTimeout(done, 5));
    }
    const array = device.upload('f32', [1], [1]);
    await device.read(array);
    device.free(array);
  },
};

/**
 * The ops of attention and log-probs, forward only: the backend has two of them and no backward.
 *
 * @param fuzzCount  random cases of every op besides its fixed ones
 */
export function contractChecks(fuzzCount: number): readonly DeviceCheck[] {
  const options = { fuzzCount, forwardOnly: true };
  return [comeAndGo, ...attentionChecks(options), ...logprobChecks(options), ...memoryChecks];
}

/** The subject of the checks. */
export async function openSubject(options: GpuJsBackendOptions = {}): Promise<Subject> {
  const open = async (): Promise<Device> => openDevice(await gpujsBackend(options));
  return { device: await open(), open };
}
