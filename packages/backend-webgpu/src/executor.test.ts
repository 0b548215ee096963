/** Work that is refused before it is recorded, and work that a device itself refuses. */
import { StateError, UnsupportedError } from '@saccade/core';
import { PooledMemory } from '@saccade/ops/backend';
import { type Pass, type ShaderOptions, shader } from '@saccade/webgpu-kernels';
import { beforeAll, describe, expect, it } from 'vitest';
import { DeviceFaults } from './device-faults.ts';
import { Executor } from './executor.ts';
import { Failures } from './failures.ts';
import { GpuBuffers, type GpuMemory } from './gpu-memory.ts';
import { kernelLimits } from './kernel-limits.ts';
import { MemoryArray } from './memory-array.ts';
import { Pipelines } from './pipelines.ts';
import { Readback } from './readback.ts';
import { Recorder } from './recorder.ts';
import { FAILURE_RECORD_BYTES } from './shader-text.ts';
import { probeForTests } from './software-gpu.ts';
import { openTestDevice } from './test-device.fixture.ts';

const probe = await probeForTests();

describe.skipIf(!probe.available)('Executor', () => {
  let executor: Executor;
  let readback: Readback;
  let faults: DeviceFaults;
  let memory: PooledMemory<GpuMemory>;
  beforeAll(async () => {
    const { wrapped: device } = await openTestDevice();
    faults = new DeviceFaults(device);
    const limits = {
      ...kernelLimits(device, device.adapterInfo, { bindingBytes: 65_536 }),
      arraysPerPass: 2,
      workgroupThreads: 128,
      hasSubgroups: false,
    };
    const buffers = new GpuBuffers(device, faults, 'storage');
    memory = new PooledMemory('webgpu', buffers);
    const recorder = new Recorder(device, faults);
    const pipelines = new Pipelines(device, limits, faults);
    const failures = new Failures(buffers.allocate(FAILURE_RECORD_BYTES), device.queue);
    executor = new Executor({ memory, pipelines, recorder, failures, limits });
    const staging = new GpuBuffers(device, faults, 'readback');
    readback = new Readback(staging, recorder, failures, 1024);
    return () => device.destroy();
  });

  const array = (length: number, first = 0): MemoryArray =>
    new MemoryArray(memory.take(4 * (first + length)), 'f32', first, length);
  const pass = (options: Partial<ShaderOptions>, rest: Partial<Pass> = {}): Pass => ({
    shader: shader({
      name: 'trial',
      arrays: { x: 'write f32' },
      numbers: { value: 'f32' },
      threads: [1, 1, 1],
      body: 'fn main(at: Place) { put_x(at.global.x, p.value + f32(at.global.x)); }',
      ...options,
    }),
    arrays: { x: array(4) },
    numbers: { value: 5 },
    workgroups: [4, 1, 1],
    ...rest,
  });
  const run = (...parts: Parameters<typeof pass>) => {
    executor.run('op', [pass(...parts)], 'f32');
  };

  it('runs a pass on an array that is read back in pieces', async () => {
    const x = array(1000, 3);
    executor.run('op', [pass({}, { arrays: { x }, workgroups: [1000, 1, 1] })], 'f32');
    const span = { memory: x.memory, start: 12, end: 12 + 4000 };
    const got = new Float32Array((await readback.read(span)).buffer);
    expect(got).toEqual(Float32Array.from({ length: 1000 }, (_, i) => 5 + i));
  });

  it('leaves out passes without workgroups', async () => {
    run({ body: 'this is no WGSL' }, { workgroups: [0, 1, 1] });
    faults.beginWait();
    expect(await faults.endWait()).toBeUndefined();
  });

  it.each<[string, ...Parameters<typeof pass>]>([
    ['has 512 threads; this device allows 128', { threads: [512, 1, 1] }],
    [
      'binds 3 arrays; this device allows 2',
      { arrays: { x: 'write f32', y: 'read f32' }, failures: ['f'] },
    ],
    ['needs the feature subgroups', { subgroups: true }],
    ['has 80000 bytes; this device binds at most 65536', {}, { arrays: {} }],
    [
      'needs 100000 × 1 × 1 workgroups; this device runs at most 65535',
      {},
      { workgroups: [100_000, 1, 1] },
    ],
    ['needs NaN × 1 × 1 workgroups', {}, { workgroups: [Number.NaN, 1, 1] }],
  ])('refuses what %s', (message, options, rest) => {
    const arrays = rest?.arrays === undefined ? {} : { arrays: { x: array(20_000) } };
    const act = () => run(options, { ...rest, ...arrays });
    expect(act).toThrow(UnsupportedError);
    expect(act).toThrow(message);
  });

  it('notices kernels that bind what they did not declare', () => {
    expect(() => run({}, { arrays: {} })).toThrow(/array x .* is not given/);
    expect(() => run({ arrays: { x: 'write f32 vec4' } }, { arrays: { x: array(4, 1) } })).toThrow(
      /not aligned for vec4/,
    );
    const half = new MemoryArray(memory.take(16), 'f16', 0, 4);
    expect(() => run({}, { arrays: { x: half } })).toThrow(StateError);
    expect(() => run({}, { numbers: {} })).toThrow(/number value .* is not given/);
  });

  it('tells the next wait of a shader that the device refuses, by name', async () => {
    faults.beginWait();
    await faults.endWait();
    faults.beginWait();
    run({ name: 'broken', body: 'fn main(at: Place) { let x = 1u + 1.0f; }' });
    await readback.read(undefined);
    const fault = await faults.endWait();
    expect(fault).toBeInstanceOf(UnsupportedError);
    expect(fault?.message).toMatch(/refuses the shader "broken"/);
    faults.beginWait();
    expect(await faults.endWait()).toBeUndefined();
  });

  it('fills sentences with the index, the value and the numbers of the pass', async () => {
    run({
      failures: ['unused', 'x[{index}] is {value}, not {value} of {nothing}.'],
      body: 'fn main(at: Place) { put_x(0u, 0.0); if (at.global.x == 2u) { fail(1u, 2u, -7); } }',
    });
    await expect(readback.read(undefined)).rejects.toThrow('op: x[2] is -7, not -7 of {nothing}.');
    await readback.read(undefined);
  });
});
