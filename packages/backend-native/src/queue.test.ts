/** Launches that run beside JavaScript: their order, their errors, and who outlives whom. */
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { DataError, StateError } from '@saccade/core';
import { add, type Device, type DeviceArray, gatherRows, gemm, openDevice } from '@saccade/ops';
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
  /** A launch whose kernel refuses: the index is not below 1. */
  const queueFailure = (index: number): DeviceArray =>
    device.forward(gatherRows, {
      x: device.upload('f32', [1, 1], [0]),
      index: device.upload('i32', [1], [index]),
    }).y;

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

  it('runs launches, writes and reads in the order of the calls', async () => {
    const y = device.upload('f32', [1, 4], [0, 0, 0, 0]);
    const reads: Promise<ArrayLike<number>>[] = [];
    const one = device.upload('f32', [1, 4], [1, 1, 1, 1]);
    keepBusy(device);
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

  it('does not let a write overtake a launch that still reads the memory', async () => {
    const n = 96;
    const w = square(device, n, 1);
    const sums: Promise<ArrayLike<number>>[] = [];
    for (let i = 1; i <= 300; i++) {
      // x is memory that the launch before may still be reading: freed, then handed out again.
      const x = square(device, n, i);
      const { y } = device.forward(gemm, { x, w });
      device.free(x);
      sums.push(device.read(y));
      device.free(y);
      if (i % 50 === 0) await Promise.all(sums);
    }
    const wrong = (await Promise.all(sums)).flatMap((sum, i) =>
      sum[0] === n * (i + 1) && sum[n * n - 1] === n * (i + 1) ? [] : [i],
    );
    expect(wrong).toEqual([]);
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

  it('reports what a kernel refused at the next wait, with the op, once', async () => {
    queueFailure(7);
    const error = await device.synchronize().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DataError);
    expect(`${error}`).toMatch(/gatherRows: .*index\[0\] is 7/);
    await device.synchronize();
    const y = square(device, 2, 3);
    expect(await device.read(y)).toEqual(new Float32Array(4).fill(3));
  });

  it('skips the launches behind a failure, rejects all waits under way, then goes on', async () => {
    const before = device.upload('f32', [1, 1], [1]);
    const doubled = device.forward(add, { a: before, b: before }).y;
    const early = device.read(doubled);
    keepBusy(device);
    queueFailure(8);
    queueFailure(9);
    device.forward(add, { a: doubled, b: doubled });
    const target = device.upload('f32', [1, 1], [5]);
    const waits = [device.read(doubled), device.synchronize(), device.read(target)];
    expect(await early).toEqual(Float32Array.of(2));
    for (const wait of await Promise.allSettled(waits)) {
      expect(wait).toMatchObject({ status: 'rejected', reason: expect.any(DataError) });
      expect(`${wait.status === 'rejected' && wait.reason}`).toMatch(/index\[0\] is 8/);
    }
    // The second failure was skipped, so there is nothing more to report; writes did happen.
    expect(await device.read(target)).toEqual(Float32Array.of(5));
    expect(await device.read(device.forward(add, { a: target, b: target }).y)).toEqual(
      Float32Array.of(10),
    );
  });

  it('refuses at once what does not fit the kernel', () => {
    const x = square(device, 2, 1);
    const wide: DeviceArray = { view: x.view, shape: [2, 3] };
    expect(() => device.forward(gemm, { x: wide, w: wide })).toThrow(/needs 24 bytes.*got 16/);
  });
});

describe('a backend that goes', () => {
  it('rejects reads under way when it is disposed of, and drops what is queued', async () => {
    const device = open();
    const x = square(device, 2, 1);
    keepBusy(device);
    const waits = [device.read(x), device.synchronize()];
    device.dispose();
    for (const wait of await Promise.allSettled(waits)) {
      expect(wait).toMatchObject({ status: 'rejected', reason: expect.any(StateError) });
      expect(`${wait.status === 'rejected' && wait.reason}`).toMatch(/disposed of before/);
    }
    await expect(device.read(x)).rejects.toThrow(StateError);
  });

  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const imports = `
    import { nativeBackend } from ${built('../dist/index.js')};
    import { gemm, openDevice } from ${built('../../ops/dist/index.js')};
    const device = openDevice(nativeBackend({ threads: 2 }));
    const x = device.upload('f32', [768, 768], new Float32Array(768 * 768).fill(1));
    let y = device.forward(gemm, { x, w: x }).y;
    for (let i = 1; i < 40; i++) y = device.forward(gemm, { x, w: x }).y;`;
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
    expect(runProcess(code)).toEqual({ status: 0, signal: null, stdout: '768\n', stderr: '' });
  });

  it('works in several threads of one process, and survives the end of each', async () => {
    const source = `${imports}
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
    const source = `${imports}
      import { parentPort } from 'node:worker_threads';
      const small = device.upload('f32', [64, 64], new Float32Array(64 * 64));
      parentPort.postMessage('running');
      for (;;) {
        const { y } = device.forward(gemm, { x: small, w: small });
        await Promise.all(Array.from({ length: 8 }, () => device.read(y)));
        device.free(y);
      }`.replace('i < 40', 'i < 1');
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
