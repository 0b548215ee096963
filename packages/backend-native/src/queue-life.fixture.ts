/** Tests of the addon's backends beyond the contract of queues: waits, and lifetimes. */
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { add, type Device, type DeviceArray } from '@saccade/ops';
import { processChecks, processWork } from '@saccade/ops/contract';
import { afterAll, expect, it } from 'vitest';

function row(device: Device, length: number, value: number): DeviceArray {
  return device.upload('f32', [1, length], new Float32Array(length).fill(value));
}

/**
 * Tests of launches that run beside JavaScript.
 *
 * @param open      another device of the kind
 * @param keepBusy  queues work of some 100 ms that writes only memory of its own
 */
export function testQueue(open: () => Device, keepBusy: (device: Device) => void): void {
  const device = open();
  afterAll(() => device.dispose());

  it('lets JavaScript go on while kernels run', async () => {
    keepBusy(device);
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
    keepBusy(device);
    const order: number[] = [];
    const waits = Array.from({ length: 20 }, (_, i) =>
      (i % 3 === 0 ? device.synchronize() : device.read(x)).then(() => order.push(i)),
    );
    await Promise.all(waits);
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('gives memory back only when no launch uses it', async () => {
    const own = open();
    // So that launches are still queued when their memory is given up.
    keepBusy(own);
    const sums: Promise<ArrayLike<number>>[] = [];
    const lengths = Array.from({ length: 30 }, (_, round) => 3000 + 1700 * (round % 7));
    for (const length of lengths) {
      // Other sizes each round: the memory of earlier rounds soon exceeds what the pool keeps.
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
}

/** A process or worker with an open device. */
export interface WorkElsewhere {
  /** The expression that opens a backend: `nativeBackend({ threads: 2 })`. */
  readonly backend: string;
  /** Side and number of the queued products. */
  readonly size: number;
  readonly launches: number;
}

const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));

/** Statements of a module that open a device. */
export const openElsewhere = (backend: string): string => `
  import { cudaBackend, nativeBackend } from ${built('../dist/index.js')};
  import { gemm, openDevice } from ${built('../../ops/dist/index.js')};
  const device = openDevice(${backend});`;

/** Tests of the ends of processes and workers with work under way. */
export function testEnds({ backend, size, launches }: WorkElsewhere): void {
  const working = `${openElsewhere(backend)}\n${processWork(size, launches)}`;

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
      parentPort.postMessage(values.every((value) => value === ${size}));
      for (let i = 0; i < ${launches}; i++) y = device.forward(gemm, { x, w: x }).y;
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
}
