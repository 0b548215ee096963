/** Launches on a stream: their order, their failures, and who outlives whom. */
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { DataError, StateError } from '@saccade/core';
import { add, type Device, type DeviceArray, gatherRows, openDevice } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { kernels, targets } from './cuda-targets.fixture.ts';
import { cudaBackend } from './index.ts';

const hasGather = kernels.includes('gatherRows');
if (!hasGather) console.info('Not tested: failures of kernels, for want of the kernel gatherRows.');

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
  /** A launch whose kernel refuses: the index is not below 1. */
  const queueFailure = (index: number): DeviceArray =>
    device.forward(gatherRows, {
      x: device.upload('f32', [1, 1], [0]),
      index: device.upload('i32', [1], [index]),
    }).y;

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

  it('runs launches, writes and reads in the order of the calls', async () => {
    const y = device.upload('f32', [1, 4], [0, 0, 0, 0]);
    const one = device.upload('f32', [1, 4], [1, 1, 1, 1]);
    const reads: Promise<ArrayLike<number>>[] = [];
    keepBusy();
    for (let i = 0; i < 200; i++) {
      // Caller's memory is free again once write returns, whether the bytes are copied or queued.
      const bytes = new Float32Array(4).fill(i);
      device.write(y, bytes);
      bytes.fill(-1);
      const sum = device.forward(add, { a: y, b: one }).y;
      reads.push(device.read(sum), device.read(y));
      device.free(sum);
    }
    const values = (await Promise.all(reads)).map((row) => Array.from(row));
    expect(values).toEqual(
      Array.from({ length: 400 }, (_, i) =>
        Array(4).fill(i % 2 === 0 ? (i >> 1) + 1 : (i - 1) >> 1),
      ),
    );
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

  it('does not let a write overtake a launch that still reads the memory', async () => {
    const one = row(device, 512, 1);
    const sums: Promise<ArrayLike<number>>[] = [];
    for (let i = 1; i <= 200; i++) {
      // x is memory that the launch before may still be reading: freed, then handed out again.
      const x = row(device, 512, i);
      const { y } = device.forward(add, { a: x, b: one });
      device.free(x);
      sums.push(device.read(y));
      device.free(y);
      if (i % 50 === 0) await Promise.all(sums);
    }
    const wrong = (await Promise.all(sums)).flatMap((sum, i) =>
      sum.length === 512 && Array.from(sum).every((value) => value === i + 2) ? [] : [i],
    );
    expect(wrong).toEqual([]);
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
    const values = (await Promise.all(sums)).map((sum) => new Set(sum));
    expect(values).toEqual(lengths.map((length) => new Set([2 * length])));
    own.dispose();
  });

  it.runIf(hasGather)(
    'reports what a kernel refused at the next wait, with the op, once',
    async () => {
      queueFailure(7);
      const error = await device.synchronize().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toEqual(
        new DataError(
          'gatherRows: index[0] is 7; expected at least 0 and below 1. Check the indices.',
        ),
      );
      await device.synchronize();
      const y = row(device, 2, 3);
      expect(await device.read(y)).toEqual(Float32Array.of(3, 3));
      queueFailure(-11);
      await expect(device.read(y)).rejects.toThrow(/index\[0\] is -11/);
      await device.synchronize();
    },
  );

  it.runIf(hasGather)(
    'rejects all waits behind a failure, none before it, then goes on',
    async () => {
      const before = row(device, 1, 1);
      const doubled = device.forward(add, { a: before, b: before }).y;
      const early = device.read(doubled);
      keepBusy();
      queueFailure(8);
      queueFailure(9);
      const target = row(device, 1, 5);
      const waits = [device.read(doubled), device.synchronize(), device.read(target)];
      expect(await early).toEqual(Float32Array.of(2));
      for (const wait of await Promise.allSettled(waits)) {
        expect(wait).toMatchObject({ status: 'rejected', reason: expect.any(DataError) });
        expect(`${wait.status === 'rejected' && wait.reason}`).toMatch(/index\[0\] is 8/);
      }
      // The first failure stands for those behind it; writes did happen.
      expect(await device.read(target)).toEqual(Float32Array.of(5));
      expect(await device.read(device.forward(add, { a: target, b: target }).y)).toEqual(
        Float32Array.of(10),
      );
    },
  );

  it('rejects reads under way when it is disposed of', async () => {
    const own = openDevice(cudaBackend(options));
    const x = row(own, 1 << 14, 1);
    for (let i = 0; i < 60; i++) own.free(own.forward(add, { a: x, b: x }).y);
    const waits = [own.read(x), own.synchronize()];
    own.dispose();
    for (const wait of await Promise.allSettled(waits)) {
      expect(wait).toMatchObject({ status: 'rejected', reason: expect.any(StateError) });
      expect(`${wait.status === 'rejected' && wait.reason}`).toMatch(/cuda.*disposed of before/);
    }
    await expect(own.read(x)).rejects.toThrow(StateError);
  });
});

describe('a backend that goes', () => {
  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const imports = `
    import { cudaBackend } from ${built('../dist/index.js')};
    import { add, openDevice } from ${built('../../ops/dist/index.js')};
    const device = openDevice(cudaBackend({ emulated: true }));
    const x = device.upload('f32', [1, 16384], new Float32Array(16384).fill(1));
    let y = device.forward(add, { a: x, b: x }).y;
    for (let i = 1; i < 60; i++) y = device.forward(add, { a: x, b: y }).y;`;
  const runProcess = (code: string) => {
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `${imports}\n${code}`],
      { encoding: 'utf8', timeout: 60_000 },
    );
    return { status, signal, stdout, stderr };
  };

  it.each([
    ['at its own end', '', 0],
    ['by process.exit', 'process.exit(3);', 3],
    ['by process.exit while a read waits', 'device.read(y); process.exit(4);', 4],
    ['by process.exit in the middle', 'setTimeout(() => process.exit(5), 50);', 5],
    ['after dispose', 'device.dispose();', 0],
  ])('does not hang or crash a process that ends %s', (_, code, status) => {
    expect(runProcess(code)).toEqual({ status, signal: null, stdout: '', stderr: '' });
  });

  it('keeps a process alive for a read, and not for nothing', () => {
    const code = 'device.read(y).then((values) => console.log(values[0]));';
    expect(runProcess(code)).toEqual({ status: 0, signal: null, stdout: '61\n', stderr: '' });
  });

  it('works in several threads of one process, and survives the end of each', async () => {
    const source = `${imports}
      import { parentPort, workerData } from 'node:worker_threads';
      const values = await device.read(y);
      parentPort.postMessage(values.every((value) => value === 61));
      for (let i = 0; i < 60; i++) y = device.forward(add, { a: x, b: y }).y;
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
