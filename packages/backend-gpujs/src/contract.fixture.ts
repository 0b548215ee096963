/** All that the contract asks of this backend: the same list in Node and in a browser. */
import { attentionChecks } from '@saccade/attention/contract';
import { logprobChecks } from '@saccade/logprob/contract';
import { type Device, openDevice } from '@saccade/ops';
import { type DeviceCheck, memoryChecks, type Subject } from '@saccade/ops/contract';
import { type GpuJsBackendOptions, gpujsBackend } from './index.ts';

/** More than the 16 WebGL contexts that Chromium keeps: one more takes the oldest away. */
const OPENED = 20;

const comeAndGo: DeviceCheck = {
  name: `memory: ${OPENED} backends more come and go, and the first one stays`,
  needs: [],
  async run({ device, open }) {
    for (let i = 0; i < OPENED; i++) {
      (await open()).dispose();
      // gpu.js gives a context back in a task of its own.
      await new Promise((done) => setTimeout(done, 5));
    }
    const array = device.upload('f32', [1], [1]);
    await device.read(array);
    device.free(array);
  },
};

/**
 * The ops of attention and log-probs, of which it has two, without a backward, which it has not.
 *
 * @param fuzzCount  random cases of every op beside its fixed ones
 */
export function contractChecks(fuzzCount: number): readonly DeviceCheck[] {
  const options = { fuzzCount, forwardOnly: true };
  return [comeAndGo, ...attentionChecks(options), ...logprobChecks(options), ...memoryChecks];
}

/** What they check. */
export async function openSubject(options: GpuJsBackendOptions = {}): Promise<Subject> {
  const open = async (): Promise<Device> => openDevice(await gpujsBackend(options));
  return { device: await open(), open };
}
