/** Log-prob kernels where weights, rows and scratch do not fit one binding, and rows left out. */
import { linearLogprob, linearSample } from '@saccade/logprob';
import { checkSampleMatchesLogprob } from '@saccade/logprob/contract';
import { openDevice } from '@saccade/ops';
import { checkBatchInvariance, compareWithOracle } from '@saccade/ops/contract';
import { describe, expect, it } from 'vitest';
import { webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();

describe.skipIf(!probe.available)('log-prob kernels', () => {
  it('bind the head, the rows and what they keep in slices', async () => {
    const backend = await webgpuBackend({ poisonWorkspaces: true, bindingBytes: 65_536 });
    const device = openDevice(backend);
    const dims = { N: 150, D: 40, V: 700 };
    await compareWithOracle(device, linearLogprob, { dims }, 1);
    await checkBatchInvariance(device, linearLogprob, { dims }, 1);
    await compareWithOracle(device, linearSample, { dims: { ...dims, Q: 4 } }, 1);
    await checkSampleMatchesLogprob(device, { ...dims, temperature: 0.9 }, 1);
    device.dispose();
  });

  it('leave rows out whatever they hold, and refuse targets outside the vocabulary', async () => {
    const device = openDevice(await webgpuBackend({ poisonWorkspaces: true }));
    const hidden = device.upload('f32', [3, 2], [1, 2, Number.NaN, 1, 3, 4]);
    const weight = device.upload('f32', [5, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const run = async (...rows: readonly number[]) => {
      const targets = device.upload('i32', [3], rows);
      const outputs = device.forward(linearLogprob, { hidden, weight, targets });
      const logprobs = device.upload('f32', [3], [1, 1, 1]);
      const inputs = { hidden, weight, targets };
      const gradients = device.backward(linearLogprob, { logprobs }, inputs, outputs);
      const read = async (name: string) => [...(await device.read(gradients[name]))];
      return {
        lse: [...(await device.read(outputs.lse))],
        hidden: await read('hidden'),
        weight: await read('weight'),
      };
    };
    const some = await run(1, -1, 4);
    expect(some.lse[1]).toBe(0);
    expect(some.hidden.slice(2, 4)).toEqual([0, 0]);
    expect([...some.hidden, ...some.weight, ...some.lse].every(Number.isFinite)).toBe(true);
    const none = await run(-1, -1, -1);
    expect(none).toEqual({
      lse: Array(3).fill(0),
      hidden: Array(6).fill(0),
      weight: Array(10).fill(0),
    });
    const message = /targets\[[12]\] is (5|-2); expected at least -1 and below 5\./;
    await expect(run(1, 5, -2)).rejects.toThrow(message);
    device.dispose();
  });
});
