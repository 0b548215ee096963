/** Memory, views and refusals of the WebGPU backend. */
import { ConfigError, DataError, randomAt, ShapeError, StateError, sizeOf } from '@saccade/core';
import {
  adamwStep,
  add,
  type Backend,
  type BufferView,
  gemm,
  type Op,
  openDevice,
  ops,
  rotary,
} from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeWebGpu, webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();

const f32 = (buffer: BufferView['buffer'], length: number, first = 0): BufferView => ({
  buffer,
  offsetBytes: 4 * first,
  dtype: 'f32',
  length,
});

describe('probeWebGpu', () => {
  it.runIf(probe.available)('names the adapter, its features and its limits', () => {
    expect(probe.available && probe.description).not.toBe('');
    expect(probe.available && probe.limits.maxStorageBuffersPerShaderStage).toBeGreaterThan(7);
  });

  it('says what is missing and how to get it', async () => {
    const gpu = { requestAdapter: async () => null } as unknown as GPU;
    const answer = await probeWebGpu({ gpu });
    expect(answer.available ? '' : answer.message).toMatch(/no adapter.*driver/);
  });
});

describe.skipIf(!probe.available)('webgpuBackend', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await webgpuBackend({ poisonWorkspaces: true });
  });
  afterAll(() => backend.dispose());

  it('describes itself by its adapter', () => {
    expect(backend.description).toMatch(/^WebGPU, ./);
  });

  it('refuses options that the device cannot serve', async () => {
    await expect(webgpuBackend({ workgroupBytes: 1 << 30 })).rejects.toThrow(ConfigError);
    // Some chunks are bound whole.
    await expect(webgpuBackend({ bindingBytes: 4096 })).rejects.toThrow(/bindingBytes is 4096/);
  });

  it('counts live bytes, and gives freed memory out again', () => {
    const random = randomAt(1, 'sizes');
    const before = backend.allocatedBytes();
    const sizes = Array.from({ length: 100 }, () => random.integer(10_000));
    const buffers = sizes.map((size) => backend.alloc(size));
    expect(backend.allocatedBytes() - before).toBe(sizes.reduce((a, b) => a + b, 0));
    for (const buffer of buffers) backend.free(buffer);
    expect(backend.allocatedBytes()).toBe(before);
  });

  it('notices a second free, a use after free, and a buffer of another backend', async () => {
    const other = await webgpuBackend();
    const buffer = backend.alloc(16);
    expect(() => other.free(buffer)).toThrow(StateError);
    expect(() => other.write(f32(buffer, 4), new Float32Array(4))).toThrow(/another backend/);
    backend.free(buffer);
    expect(() => backend.free(buffer)).toThrow(StateError);
    expect(() => backend.write(f32(buffer, 4), new Float32Array(4))).toThrow(/has been freed/);
    await expect(backend.read(f32(buffer, 4))).rejects.toThrow(/has been freed/);
    expect(() => backend.free({ sizeBytes: 4 })).toThrow(/not one of the webgpu backend/);
    other.dispose();
    expect(() => other.alloc(4)).toThrow(/disposed/);
    await expect(other.synchronize()).rejects.toThrow(/disposed/);
  });

  it('checks views and lengths', () => {
    const buffer = backend.alloc(16);
    expect(() => backend.write(f32(buffer, 5), new Float32Array(5))).toThrow(ShapeError);
    expect(() => backend.write(f32(buffer, 4), new Float32Array(3))).toThrow(/needs 16 bytes/);
    expect(() => backend.alloc(-1)).toThrow(/cannot have -1 bytes/);
    const inputs = { a: f32(buffer, 4), b: f32(buffer, 4) };
    const launch = { op: add, direction: 'forward', scalars: {} } as const;
    const operands = [inputs.a, inputs.b, f32(buffer, 4)];
    expect(() => backend.dispatch({ ...launch, operands, dims: { N: 2, D: 3 } })).toThrow(
      /add: a needs 24 bytes.*got 16/,
    );
    backend.free(buffer);
  });

  it('names the limit and the size of a buffer that is too large', () => {
    expect(() => backend.alloc(2 ** 50)).toThrow(/1125899906842624 bytes.*maxBufferSize is \d+/);
  });

  it('gives copies, which later writes do not change', async () => {
    const view = f32(backend.alloc(8), 2);
    const data = Float32Array.of(1, 2);
    backend.write(view, data);
    data.fill(9);
    const first = await backend.read(view);
    backend.write(view, Float32Array.of(3, 4));
    expect(first).toEqual(Float32Array.of(1, 2));
    expect(await backend.read(view)).toEqual(Float32Array.of(3, 4));
    backend.free(view.buffer);
  });

  it('writes and reads 16-bit data at any place, and leaves its neighbours alone', async () => {
    const buffer = backend.alloc(20);
    const halves = (first: number, length: number): BufferView => ({
      buffer,
      offsetBytes: 2 * first,
      dtype: 'f16',
      length,
    });
    const expected = new Uint16Array(10).fill(0xabcd);
    backend.write(halves(0, 10), expected);
    const random = randomAt(2, 'halves');
    for (let i = 0; i < 30; i++) {
      const first = random.integer(10);
      const piece = Uint16Array.from({ length: random.integer(11 - first) }, () =>
        random.integer(65536),
      );
      backend.write(halves(first, piece.length), piece);
      expected.set(piece, first);
      expect(await backend.read(halves(first, piece.length))).toEqual(piece);
    }
    expect(await backend.read(halves(0, 10))).toEqual(expected);
    backend.free(buffer);
  });

  it('takes views that begin at any element', async () => {
    const buffer = backend.alloc(4 * 400);
    const values = Float32Array.from({ length: 400 }, (_, i) => i);
    backend.write(f32(buffer, 400), values);
    const sums = backend.alloc(4 * 400);
    for (const first of [0, 1, 3, 64, 65, 127]) {
      const operands = [
        f32(buffer, 100, first),
        f32(buffer, 100, 2 * first),
        f32(sums, 100, first),
      ];
      backend.dispatch({
        op: add,
        direction: 'forward',
        operands,
        dims: { N: 25, D: 4 },
        scalars: {},
      });
      const got = (await backend.read(f32(sums, 100, first))) as Float32Array;
      expect(got).toEqual(values.subarray(0, 100).map((i) => 2 * i + 3 * first));
    }
    backend.free(buffer);
    backend.free(sums);
  });

  it('takes operands and results that share a buffer', async () => {
    const buffer = backend.alloc(4 * 40);
    backend.write(
      f32(buffer, 40),
      Float32Array.from({ length: 40 }, (_, i) => i),
    );
    const [a, b, y] = [f32(buffer, 9, 1), f32(buffer, 9, 11), f32(buffer, 9, 21)];
    backend.dispatch({
      op: add,
      direction: 'forward',
      operands: [a, b, y],
      dims: { N: 3, D: 3 },
      scalars: {},
    });
    // Two results in one buffer, and the gradient they are copied from beside them.
    const [dA, dB] = [f32(buffer, 4, 31), f32(buffer, 4, 36)];
    const operands = [f32(buffer, 4, 1), dA, dA, dA, dA, dB];
    backend.dispatch({
      op: add,
      direction: 'backward',
      operands,
      dims: { N: 2, D: 2 },
      scalars: {},
    });
    const got = Array.from((await backend.read(f32(buffer, 40))) as Float32Array);
    expect(got.slice(0, 21)).toEqual(Array.from({ length: 21 }, (_, i) => i));
    expect(got.slice(21, 30)).toEqual(Array.from({ length: 9 }, (_, i) => 2 * i + 12));
    expect(got.slice(30)).toEqual([30, 1, 2, 3, 4, 35, 1, 2, 3, 4]);
    backend.free(buffer);
  });

  it('supports what it has kernels for, and says why not otherwise', () => {
    const stored = ['f32', 'f32', undefined, 'f32'] as const;
    expect(backend.supports(gemm, 'forward', stored, {})).toBe(true);
    expect(backend.supports(gemm, 'forward', ['f64', 'f32', undefined, 'f32'], {})).toMatch(
      /x is f64; the kernel takes f32/,
    );
    expect(backend.supports(gemm, 'forward', ['bf16', 'bf16', undefined, 'bf16'], {})).toMatch(
      /x is bf16; the kernel takes f32/,
    );
    const backward = ['f32', ...stored, 'f32', 'f16', undefined] as const;
    expect(backend.supports(gemm, 'backward', backward, {})).toMatch(
      /the gradient of w is f16; the kernel takes f32/,
    );
    const unknown: Op = { ...gemm, id: 'gemmOfTheFuture' };
    expect(backend.supports(unknown, 'forward', stored, {})).toMatch(/no WebGPU kernel gemmOfThe/);
    const changed: Op = { ...gemm, scalars: { alpha: 1 } };
    expect(backend.supports(changed, 'forward', stored, {})).toMatch(/older or newer/);
    expect(backend.supports(ops.get('scatterRows'), 'backward', [], {})).toMatch(/has no backward/);
  });

  it('multiplies empty matrices', async () => {
    const device = openDevice(await webgpuBackend({ poisonWorkspaces: true }));
    for (const [M, K, N] of [
      [0, 3, 2],
      [2, 0, 3],
      [2, 3, 0],
    ] as const) {
      const ones = (rows: number, columns: number) =>
        device.upload('f32', [rows, columns], Array(rows * columns).fill(1));
      const inputs = { x: ones(M, K), w: ones(N, K) };
      const outputs = device.forward(gemm, inputs);
      const gradients = device.backward(gemm, { y: ones(M, N) }, inputs, outputs);
      expect([...(await device.read(outputs.y))]).toEqual(Array(M * N).fill(0));
      expect([...(await device.read(gradients.x))]).toEqual(Array(M * K).fill(N));
      expect([...(await device.read(gradients.w))]).toEqual(Array(N * K).fill(M));
    }
    device.dispose();
  });

  it.each([
    ['embedding', { table: [2, 3], ids: [1] }, [2], /embedding: ids\[0\] is 2; expected.*below 2/],
    ['embedding', { table: [2, 3], ids: [2] }, [0, -1], /ids\[1\] is -1/],
    ['gatherRows', { x: [2, 3], index: [1] }, [5], /index\[0\] is 5/],
    ['scatterRows', { into: [2, 3], x: [1, 3], index: [1] }, [2], /index\[0\] is 2/],
  ] as const)('%s refuses an index out of range in words', async (id, shapes, indices, message) => {
    const device = openDevice(await webgpuBackend());
    const inputs = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => {
        const isIndex = name === 'ids' || name === 'index';
        const data = isIndex ? indices : Array(sizeOf(shape)).fill(0);
        return [name, device.upload(isIndex ? 'i32' : 'f32', shape, data)];
      }),
    );
    device.forward(ops.get(id), inputs);
    await expect(device.synchronize()).rejects.toThrow(message);
    device.dispose();
  });

  it('refuses scalars and dims that no kernel can take', () => {
    const buffer = backend.alloc(64);
    const [one, two] = [f32(buffer, 1), f32(buffer, 2)];
    const operands = [one, one, one, one, one, one, one, one];
    const { scalars } = adamwStep;
    expect(() =>
      backend.dispatch({
        op: adamwStep,
        direction: 'forward',
        operands,
        dims: { N: 1, U: 1 },
        scalars: { ...scalars, step: 0 },
      }),
    ).toThrow(new DataError('adamwStep: step is 0; steps count from 1.'));
    expect(() =>
      backend.dispatch({
        op: rotary,
        direction: 'forward',
        operands: [two, two, two, two],
        dims: { T: 1, H: 1, D: 2, E: 2 },
        scalars: {},
      }),
    ).toThrow(/rotary: the tables hold 2 angles for heads of 2/);
    backend.free(buffer);
  });
});
