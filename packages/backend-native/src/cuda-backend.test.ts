/** Behavior specific to the CUDA backend: devices, staging memory, and the driver's messages. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, MissingError } from '@saccade/core';
import { add, type Backend, type BufferView, gemm, type Op, openDevice } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EMULATED, emulation, targets } from './cuda-targets.fixture.ts';
import { CudaError, cudaBackend, probeCuda } from './index.ts';

// Emulated threads take turns on one processor.
vi.setConfig({ testTimeout: 300_000 });

const f32 = (buffer: BufferView['buffer'], length: number, first = 0): BufferView => ({
  buffer,
  offsetBytes: 4 * first,
  dtype: 'f32',
  length,
});

describe('probeCuda', () => {
  it('names the library, its kernels and its devices', () => {
    expect(emulation).toMatchObject({ available: true });
    const { devices, kernels } = emulation.available ? emulation : { devices: [], kernels: [] };
    expect(kernels).toContain('add');
    expect(devices[EMULATED.plain]).toMatchObject({ index: 0, computeCapability: 8 });
    expect(devices[EMULATED.old]?.obstacle).toMatch(/compute capability 7.5; kernels need 8.0/);
  });

  it('says what is missing and how to get it', () => {
    const probe = probeCuda({ path: '/nowhere/saccade-cuda.so' });
    expect(probe).toMatchObject({ available: false, reason: 'not-built' });
    expect(probe.available ? '' : probe.message).toMatch(/does not exist.*nvcc.*npm run build/);
  });

  it('says that a file is no library of kernels', () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-cuda-'));
    const path = join(folder, 'saccade-cuda.so');
    writeFileSync(path, 'this is no shared library, but long enough to be read as one\n'.repeat(9));
    const probe = probeCuda({ path });
    rmSync(folder, { recursive: true });
    expect(probe).toMatchObject({ available: false, reason: 'load-failed' });
    expect(probe.available ? '' : probe.message).toMatch(/cannot be opened.*npm run build/);
  });

  it('opens the library for devices, and names the driver or the device that is missing', () => {
    const probe = probeCuda();
    if (probe.available) {
      expect(probe.devices.length).toBeGreaterThan(0);
    } else if (probe.reason === 'not-built') {
      console.info(`Not tested, since it was not built: ${probe.message}`);
    } else {
      expect(probe.reason).toMatch(/no-driver|no-device/);
      expect(probe.message).toMatch(/driver/);
      expect(() => cudaBackend()).toThrow(MissingError);
    }
  });
});

describe('cudaBackend', () => {
  it('refuses devices that are not there or not usable', () => {
    expect(() => cudaBackend({ emulated: true, device: 99 })).toThrow(ConfigError);
    expect(() => cudaBackend({ emulated: true, device: 99 })).toThrow(
      /no CUDA device 99. Known: 0 \(Emulated GPU\)/,
    );
    expect(() => cudaBackend({ emulated: true, device: EMULATED.old })).toThrow(
      /cannot be used: it has compute capability 7.5/,
    );
  });

  it('names the size when the device is out of memory, and goes on', async () => {
    const backend = cudaBackend({ emulated: true, device: EMULATED.small });
    const half = backend.alloc(2_100_000);
    const error = errorOf(() => backend.alloc(3_000_000));
    expect(error).toBeInstanceOf(CudaError);
    expect(error).toMatchObject({ driver: 'cudaErrorMemoryAllocation', isLost: false });
    expect(`${error}`).toMatch(/no room for an array of \d{7} bytes.*out of memory.*4.0 MiB/);
    backend.write(f32(half, 2), Float32Array.of(1, 2));
    expect(await backend.read(f32(half, 2))).toEqual(Float32Array.of(1, 2));
    // Memory kept for later is released for a current request.
    backend.free(half);
    backend.free(backend.alloc(3_000_000));
    backend.dispose();
  });

  it('gives up what it keeps when a workspace finds no room', async () => {
    const backend = cudaBackend({ emulated: true, device: EMULATED.small });
    const device = openDevice(backend);
    const [M, N, K] = [2048, 16, 16];
    const sizes = [3_000_000, ...Array<number>(4).fill(4 * M * K)];
    for (const buffer of sizes.map((size) => backend.alloc(size))) backend.free(buffer);
    const ones = (rows: number, columns: number) =>
      device.upload('f32', [rows, columns], new Float32Array(rows * columns).fill(1));
    const inputs = { x: ones(M, K), w: ones(N, K) };
    const outputs = device.forward(gemm, inputs);
    // The gradient of w is summed over rows in parts, which are workspace.
    const gradients = device.backward(gemm, { y: ones(M, N) }, inputs, outputs);
    expect(backend.workspaceBytes?.()).toBeGreaterThan(0);
    expect(await device.read(gradients.w)).toEqual(new Float32Array(N * K).fill(M));
    device.dispose();
  });

  it('says that a device is lost, from then on', async () => {
    const backend = cudaBackend({ emulated: true, device: EMULATED.breaking });
    const buffer = backend.alloc(16);
    const view = f32(buffer, 4);
    backend.write(view, new Float32Array(4));
    const launch = () =>
      backend.dispatch({
        op: add,
        direction: 'forward',
        operands: [view, view, f32(backend.alloc(16), 4)],
        dims: { N: 1, D: 4 },
        scalars: {},
      });
    launch();
    launch();
    await backend.synchronize();
    launch();
    const waits = await Promise.allSettled([backend.synchronize(), backend.read(view)]);
    for (const wait of waits) {
      const reason: unknown = wait.status === 'rejected' ? wait.reason : undefined;
      expect(reason).toBeInstanceOf(CudaError);
      expect(reason).toMatchObject({ driver: 'cudaErrorIllegalAddress', isLost: true });
      expect(`${reason}`).toMatch(/lost.*an illegal memory access.*Start a new process/);
    }
    expect(launch).toThrow(/device was lost/);
    expect(() => backend.write(view, new Float32Array(4))).toThrow(/device was lost/);
    await expect(backend.read(view)).rejects.toThrow(/device was lost/);
    await expect(backend.synchronize()).rejects.toThrow(/device was lost/);
    backend.dispose();
    const error = errorOf(() => cudaBackend({ emulated: true, device: EMULATED.breaking }));
    expect(error).toBeInstanceOf(CudaError);
  });
});

describe.each(targets)('cudaBackend on $label', ({ options }) => {
  let backend: Backend;
  beforeAll(() => {
    backend = cudaBackend({ ...options, poisonWorkspaces: true });
  });
  afterAll(() => backend.dispose());

  it('describes itself by its device', () => {
    expect(backend.name).toBe('cuda');
    expect(backend.description).toMatch(/^CUDA, .* \(compute capability \d\.\d, .* GiB\)$/);
  });

  it('copies arrays larger than its staging memory, there and back', async () => {
    const length = 6_000_001;
    const view = f32(backend.alloc(4 * length), length);
    const data = Float32Array.from({ length }, (_, i) => i);
    // The second write fills blocks that the first may still be read from.
    backend.write(
      view,
      data.map((value) => -value),
    );
    backend.write(view, data);
    expect(Buffer.compare(bytesOf(await backend.read(view)), bytesOf(data))).toBe(0);
    backend.free(view.buffer);
  });

  it.each(['f32', 'bf16', 'f16'] as const)(
    'takes views of %s that begin anywhere',
    async (dtype) => {
      const device = openDevice(cudaBackend(options));
      const size = dtype === 'f32' ? 4 : 2;
      const values = device.upload(
        dtype,
        [400],
        Array.from({ length: 400 }, (_, i) => i % 100),
      );
      const sums = device.upload(dtype, [400], new Float32Array(400));
      const from = (array: typeof values, first: number) => ({
        ...array.view,
        offsetBytes: first * size,
        length: 100,
      });
      for (const first of [0, 1, 3, 64, 65, 127]) {
        device.backend.dispatch({
          op: add,
          direction: 'forward',
          operands: [from(values, first), from(values, 2 * first), from(sums, first)],
          dims: { N: 25, D: 4 },
          scalars: {},
        });
        const got = await device.read({ view: from(sums, first), shape: [100] });
        const expected = Array.from(
          { length: 100 },
          (_, i) => ((i + first) % 100) + ((i + 2 * first) % 100),
        );
        expect(Array.from(got)).toEqual(expected);
      }
      device.dispose();
    },
  );

  it('supports what it has kernels for, and says why not otherwise', () => {
    const stored = ['f32', 'f32', undefined, 'f32'] as const;
    expect(backend.supports(gemm, 'forward', stored, {})).toBe(true);
    const halves = ['f16', 'f16', undefined, 'f16'] as const;
    expect(backend.supports(gemm, 'forward', halves, {})).toBe(true);
    expect(backend.supports(gemm, 'forward', ['f64', 'f32', undefined, 'f32'], {})).toMatch(
      /x is f64; the kernel takes f32 or bf16 or f16/,
    );
    const backward = ['f16', ...halves, 'f16', 'f16', undefined] as const;
    expect(backend.supports(gemm, 'backward', backward, {})).toMatch(
      /the gradient of w is f16; the kernel takes f32/,
    );
    const unknown: Op = { ...gemm, id: 'gemmOfTheFuture' };
    expect(backend.supports(unknown, 'forward', stored, {})).toMatch(/no kernel gemmOfTheFuture/);
    const changed: Op = { ...gemm, scalars: { alpha: 1 } };
    expect(backend.supports(changed, 'forward', stored, {})).toMatch(/older or newer/);
  });
});

const bytesOf = (array: ArrayBufferView): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
