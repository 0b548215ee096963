/** Launches that run beside JavaScript, on threads of their own, and who outlives whom. */
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { type Device, type DeviceArray, gemm, openDevice } from '@saccade/ops';
import { processChecks, processWork } from '@saccade/ops/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeBackend } from './index.ts';

const open = (): Device => openDevice(nativeBackend({ threads: 2 }));

/** A square matrix of one number. */
function square(device: Device, n: number, value: number): DeviceArray {
  return device.upload('f32', [n, n], new Float32Array(n * n).fill(value));
}

/** Queues some 100 ms of work that writes only memory of its own. */
function keepBusy(device: Device): void {
  const x = square(device, 768, 1);
  for (let i = 0; i < 10; i++) device.free(device.forward(gemm, { x, w: x }).y);
  device.free(x);
}

describe('a queue', () => {
  const device = open();
  afterAll(() => device.dispose());

  it('lets JavaScript go on while kernels run', async () => {
    let turns = 0;
    keepBusy(device);
    let isDone = false;
    const done = device.synchronize().then(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await done;
    expect(turns).toBeGreaterThan(10);
  });

  it('gives memory back to the system only when no launch uses it', async () => {
    const n = 512;
    const own = open();
    const sums: Promise<ArrayLike<number>>[] = [];
    for (let round = 0; round < 20; round++) {
      // Other sizes each round: what the round before used is soon more than is worth keeping.
      const k = n + 97 * (round % 7);
      const x = own.upload('f32', [n, k], new Float32Array(n * k).fill(1));
      const { y } = own.forward(gemm, { x, w: x });
      own.free(x);
      sums.push(own.read(y));
      own.free(y);
    }
    const corners = (await Promise.all(sums)).map((sum) => sum[n * n - 1]);
    expect(corners).toEqual(Array.from({ length: 20 }, (_, i) => n + 97 * (i % 7)));
    own.dispose();
  });
});

describe('a backend that goes', () => {
  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const beginning = `
    import { nativeBackend } from ${built('../dist/index.js')};
    import { gemm, openDevice } from ${built('../../ops/dist/index.js')};
    const device = openDevice(nativeBackend({ threads: 2 }));`;
  const working = `${beginning}\n${processWork(768, 40)}`;

  it.each(processChecks)('$name', ({ code, status, stdout }) => {
    const ended = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `${working}\n${code}`],
      { encoding: 'utf8', timeout: 60_000 },
    );
    expect(ended).toMatchObject({ status, signal: null, stdout, stderr: '' });
  });

  it('works in several threads of one process, and survives the end of each', async () => {
    const source = `${working}
      import { parentPort, workerData } from 'node:worker_threads';
      const values = await device.read(y);
      parentPort.postMessage(values.every((value) => value === 768));
      for (let i = 0; i < 40; i++) y = device.forward(gemm, { x, w: x }).y;
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

  it('survives workers that are terminated while reads come back', async () => {
    const source = `${beginning}
      import { parentPort } from 'node:worker_threads';
      const small = device.upload('f32', [64, 64], new Float32Array(64 * 64));
      parentPort.postMessage('running');
      for (;;) {
        const { y } = device.forward(gemm, { x: small, w: small });
        await Promise.all(Array.from({ length: 8 }, () => device.read(y)));
        device.free(y);
      }`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    for (let round = 0; round < 10; round++) {
      const workers = [0, 1, 2].map(() => new Worker(url, { execArgv: [] }));
      await Promise.all(
        workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))),
      );
      await new Promise((resolve) => setTimeout(resolve, round));
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
  });
});
