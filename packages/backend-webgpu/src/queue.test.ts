/** Resources held by batched launches, a device that is lost, and a process that ends. */
import { spawnSync } from 'node:child_process';
import { StateError } from '@saccade/core';
import { add, type Device, type DeviceArray, openDevice } from '@saccade/ops';
import { processChecks, processWork } from '@saccade/ops/contract';
import { describe, expect, it } from 'vitest';
import { webgpuBackend } from './index.ts';
import { childPreamble, probeForTests } from './software-gpu.ts';
import { openTestDevice } from './test-device.fixture.ts';

const probe = await probeForTests();

/** A square matrix of one number. */
function square(device: Device, n: number, value: number): DeviceArray {
  return device.upload('f32', [n, n], new Float32Array(n * n).fill(value));
}

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
  const built = (path: string): string => JSON.stringify(new URL(path, import.meta.url));
  const working = `${childPreamble()}
    const { webgpuBackend } = await import(${built('../dist/index.js')});
    const { gemm, openDevice } = await import(${built('../../ops/dist/index.js')});
    const device = openDevice(await webgpuBackend());
    ${processWork(64, 20)}`;

  it.each(processChecks)('$name', ({ code, status, stdout }) => {
    const ended = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', `${working}\n${code}`],
      { encoding: 'utf8', timeout: 60_000 },
    );
    // Drivers may talk on stderr.
    expect(ended).toMatchObject({ status, signal: null, stdout });
  });
});
