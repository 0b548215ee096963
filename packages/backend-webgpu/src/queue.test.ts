/** Launches in batches: their order, their failures, what they hold, and a device that goes. */
import { spawnSync } from 'node:child_process';
import { DataError, StateError } from '@saccade/core';
import { add, type Device, type DeviceArray, gatherRows, gemm, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webgpuBackend } from './index.ts';
import { childPreamble, probeForTests } from './software-gpu.ts';
import { openTestDevice } from './test-device.fixture.ts';

const probe = await probeForTests();

/** A square matrix of one number. */
function square(device: Device, n: number, value: number): DeviceArray {
  return device.upload('f32', [n, n], new Float32Array(n * n).fill(value));
}

describe.skipIf(!probe.available)('a queue', () => {
  let device: Device;
  beforeAll(async () => {
    device = openDevice(await webgpuBackend());
  });
  afterAll(() => device.dispose());
  /** A launch whose kernel refuses: the index is not below 1. */
  const queueFailure = (index: number): DeviceArray =>
    device.forward(gatherRows, {
      x: device.upload('f32', [1, 1], [0]),
      index: device.upload('i32', [1], [index]),
    }).y;

  it('runs launches, writes and reads in the order of the calls', async () => {
    const y = device.upload('f32', [1, 4], [0, 0, 0, 0]);
    const one = device.upload('f32', [1, 4], [1, 1, 1, 1]);
    const reads: Promise<ArrayLike<number>>[] = [];
    for (let i = 0; i < 100; i++) {
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
      Array.from({ length: 200 }, (_, i) =>
        Array(4).fill(i % 2 === 0 ? (i >> 1) + 1 : (i - 1) >> 1),
      ),
    );
  });

  it('does not let a write overtake a launch that still reads the memory', async () => {
    const n = 16;
    const w = square(device, n, 1);
    const sums: Promise<ArrayLike<number>>[] = [];
    for (let i = 1; i <= 150; i++) {
      // x is memory that the launch before still reads: freed, then handed out again.
      const x = square(device, n, i);
      const { y } = device.forward(gemm, { x, w });
      device.free(x);
      if (i % 3 === 0) sums.push(device.read(y));
      device.free(y);
    }
    const wrong = (await Promise.all(sums)).flatMap((sum, i) =>
      sum[0] === n * 3 * (i + 1) && sum[n * n - 1] === n * 3 * (i + 1) ? [] : [i],
    );
    expect(wrong).toEqual([]);
  });

  it('keeps the order over more launches than a batch holds', async () => {
    let y = device.upload('f32', [1, 1], [0]);
    const one = device.upload('f32', [1, 1], [1]);
    for (let i = 0; i < 500; i++) {
      const next = device.forward(add, { a: y, b: one }).y;
      device.free(y);
      y = next;
    }
    expect(await device.read(y)).toEqual(Float32Array.of(500));
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
    queueFailure(11);
    await expect(device.read(y)).rejects.toThrow(/index\[0\] is 11/);
    await device.synchronize();
  });

  it('rejects all waits behind a failure, but not those before it, then goes on', async () => {
    const before = device.upload('f32', [1, 1], [1]);
    const doubled = device.forward(add, { a: before, b: before }).y;
    const early = device.read(doubled);
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
    // The second failure came behind the first, so there is nothing more to report.
    expect(await device.read(target)).toEqual(Float32Array.of(5));
    expect(await device.read(device.forward(add, { a: target, b: target }).y)).toEqual(
      Float32Array.of(10),
    );
  });
});

describe.skipIf(!probe.available)('what a backend holds', () => {
  it('stays flat over 1,000 launches of all kinds of size', async () => {
    const { gpu, wrapped, counts } = await openTestDevice();
    const device = openDevice(await webgpuBackend({ gpu, device: wrapped }));
    const round = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) {
        const n = 1 + (i % 20);
        const x = square(device, n, 1);
        const { y } = device.forward(add, { a: x, b: x });
        device.free(x);
        device.free(y);
      }
      await device.synchronize();
    };
    await round();
    await round();
    const { buffers, pipelines } = counts();
    for (let i = 0; i < 8; i++) await round();
    expect(counts()).toEqual({ buffers, pipelines });
    expect(device.allocatedBytes()).toBe(0);
    // All buffers but two are pooled: the numbers of dispatches and the record of failures.
    expect(device.backend.memoryUse?.()).toMatchObject({
      liveBuffers: 0,
      heldBuffers: buffers - 2,
    });
    device.dispose();
    expect(counts().buffers).toBe(0);
    wrapped.destroy();
  });

  it('says so when the device has no memory, with the size, and goes on', async () => {
    const { gpu, wrapped, failNext } = await openTestDevice();
    const device = openDevice(await webgpuBackend({ gpu, device: wrapped }));
    failNext('out-of-memory');
    const lost = device.alloc('f32', [1000]);
    const waits = [device.synchronize(), device.synchronize()];
    for (const wait of waits) await expect(wait).rejects.toThrow(/no memory for 4096 bytes more/);
    device.free(lost);
    await device.synchronize();
    const x = square(device, 2, 1);
    expect(await device.read(device.forward(add, { a: x, b: x }).y)).toEqual(
      new Float32Array(4).fill(2),
    );
    device.dispose();
    wrapped.destroy();
  });

  it('tells of a device that is lost, at every call', async () => {
    const { gpu, wrapped } = await openTestDevice();
    const device = openDevice(await webgpuBackend({ gpu, device: wrapped }));
    const x = square(device, 2, 1);
    const waiting = device.read(x);
    const outcome = waiting.then(
      () => 'read',
      (error: unknown) => error,
    );
    wrapped.destroy();
    const first = await outcome;
    if (first !== 'read') expect(first).toBeInstanceOf(StateError);
    await expect(device.read(x)).rejects.toThrow(/device was lost.*Open another backend/);
    expect(() => device.alloc('f32', [1])).toThrow(/was lost/);
    expect(() => device.write(x, new Float32Array(4))).toThrow(/was lost/);
    expect(() => device.forward(add, { a: x, b: x })).toThrow(/was lost/);
    await expect(device.synchronize()).rejects.toThrow(StateError);
    device.dispose();
  });
});

describe.skipIf(!probe.available)('a backend that goes', () => {
  it('rejects reads under way when it is disposed of', async () => {
    const device = openDevice(await webgpuBackend());
    const x = square(device, 2, 1);
    device.forward(add, { a: x, b: x });
    const waits = [device.read(x), device.synchronize()];
    device.dispose();
    for (const wait of await Promise.allSettled(waits)) {
      expect(wait).toMatchObject({ status: 'rejected', reason: expect.any(StateError) });
      expect(`${wait.status === 'rejected' && wait.reason}`).toMatch(/disposed of before/);
    }
    await expect(device.read(x)).rejects.toThrow(StateError);
  });

  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const runProcess = (code: string) => {
    const source = `${childPreamble()}
      const { webgpuBackend } = await import(${built('../dist/index.js')});
      const { gemm, openDevice } = await import(${built('../../ops/dist/index.js')});
      const device = openDevice(await webgpuBackend());
      const x = device.upload('f32', [64, 64], new Float32Array(64 * 64).fill(1));
      let y = device.forward(gemm, { x, w: x }).y;
      for (let i = 1; i < 20; i++) y = device.forward(gemm, { x, w: x }).y;
      ${code}`;
    const { status, signal, stdout } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { encoding: 'utf8', timeout: 60_000 },
    );
    return { status, signal, stdout };
  };

  it.each([
    ['at its own end', '', 0],
    ['by process.exit', 'process.exit(3);', 3],
    [
      'by process.exit while a read waits',
      'void device.read(y).catch(() => {}); process.exit(4);',
      4,
    ],
    [
      'by process.exit in the middle',
      'setTimeout(() => process.exit(5), 50); await device.read(y);',
      5,
    ],
    ['after dispose', 'device.dispose();', 0],
  ])('does not hang or crash a process that ends %s', (_, code, status) => {
    expect(runProcess(code)).toEqual({ status, signal: null, stdout: '' });
  });

  it('keeps a process alive for a read, and not for nothing', () => {
    const code = 'device.read(y).then((values) => console.log(values[0]));';
    expect(runProcess(code)).toEqual({ status: 0, signal: null, stdout: '64\n' });
  });
});
