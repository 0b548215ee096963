/** Launches on a stream beside JavaScript, and who outlives whom. */
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { add, type Device, type DeviceArray, openDevice } from '@saccade/ops';
import { processChecks, processWork } from '@saccade/ops/contract';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 120_000 });

function row(device: Device, length: number, value: number): DeviceArray {
  return device.upload('f32', [1, length], new Float32Array(length).fill(value));
}

describe.each(targets)('a stream on $label', ({ options }) => {
  const device = openDevice(cudaBackend(options));
  afterAll(() => device.dispose());

  /** Queues work that takes an emulated device some 100 ms. */
  const keepBusy = (): void => {
    const x = row(device, 1 << 14, 1);
    for (let i = 0; i < 40; i++) device.free(device.forward(add, { a: x, b: x }).y);
    device.free(x);
  };
  it('lets JavaScript go on while kernels run', async () => {
    keepBusy();
    let turns = 0;
    let isDone = false;
    const done = device.synchronize().then(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await done;
    expect(turns).toBeGreaterThan(1);
  });

  it('settles waits in the order of the calls', async () => {
    const x = row(device, 4, 1);
    keepBusy();
    const order: number[] = [];
    const waits = Array.from({ length: 20 }, (_, i) =>
      (i % 3 === 0 ? device.synchronize() : device.read(x)).then(() => order.push(i)),
    );
    await Promise.all(waits);
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('gives memory back to the driver only when no launch uses it', async () => {
    const own = openDevice(cudaBackend(options));
    const sums: Promise<ArrayLike<number>>[] = [];
    const lengths = Array.from({ length: 30 }, (_, round) => 3000 + 1700 * (round % 7));
    for (const length of lengths) {
      // Other sizes each round: what the round before used is soon more than is worth keeping.
      const x = row(own, length, length);
      const { y } = own.forward(add, { a: x, b: x });
      own.free(x);
      sums.push(own.read(y));
      own.free(y);
    }
    const values = (await Promise.all(sums)).map((sum) => new Set(Array.from(sum)));
    expect(values).toEqual(lengths.map((length) => new Set([2 * length])));
    own.dispose();
  });
});

describe('a backend that goes', () => {
  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const working = `
    import { cudaBackend } from ${built('../dist/index.js')};
    import { gemm, openDevice } from ${built('../../ops/dist/index.js')};
    const device = openDevice(cudaBackend({ emulated: true }));
    ${processWork(32, 20)}`;

  it.each(processChecks)('$name', ({ code, status, stdout }) => {
    const ended = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `${working}\n${code}`],
      { encoding: 'utf8', timeout: 100_000 },
    );
    expect(ended).toMatchObject({ status, signal: null, stdout, stderr: '' });
  });

  it('works in several threads of one process, and survives the end of each', async () => {
    const source = `${working}
      import { parentPort, workerData } from 'node:worker_threads';
      const values = await device.read(y);
      parentPort.postMessage(values.every((value) => value === 32));
      for (let i = 0; i < 20; i++) y = device.forward(gemm, { x, w: x }).y;
      if (workerData.isWaiting) await device.read(y);`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const ends = Array.from({ length: 4 }, async (_, i) => {
      const worker = new Worker(url, { execArgv: [], workerData: { isWaiting: i % 2 === 0 } });
      const isRight = await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      // Half of them are stopped with a read under way; the others end with work queued.
      if (i % 2 === 0) await worker.terminate();
      else await new Promise((resolve) => worker.once('exit', resolve));
      return isRight;
    });
    expect(await Promise.all(ends)).toEqual([true, true, true, true]);
  });
});
