import { DataError, MissingError, randomAt, ShapeError, StateError, sizeOf } from '@saccade/core';
import { type BufferView, type Op, openDevice, ops } from '@saccade/ops';
import { describe, expect, it } from 'vitest';
import { nativeBackend, probeNative } from './index.ts';
import { openAddon } from './load.ts';

const f32 = (buffer: BufferView['buffer'], length: number): BufferView => ({
  buffer,
  offsetBytes: 0,
  dtype: 'f32',
  length,
});

describe('probeNative', () => {
  it('names the addon, its instruction sets and its kernels', () => {
    const native = probeNative();
    expect(native).toMatchObject({ available: true });
    expect(native.available && native.instructionSets).toContain('generic');
    expect(native.available && native.kernels).toContain('gemm');
  });

  it('says what is missing and how to get it', () => {
    const native = probeNative('/nowhere/saccade.node');
    expect(native).toMatchObject({ available: false, reason: 'not-built' });
    expect(native.available ? '' : native.message).toMatch(/does not exist.*npm run build/);
    expect(() => openAddon('/nowhere/saccade.node')).toThrow(MissingError);
  });
});

describe('nativeBackend', () => {
  it('describes itself by instruction set and threads', () => {
    const backend = nativeBackend({ isa: 'generic', threads: 1 });
    expect(backend.description).toBe('CPU, generic, 1 thread');
    backend.dispose();
  });

  it('refuses options it cannot serve, naming what it can', () => {
    expect(() => nativeBackend({ threads: 0 })).toThrow(/threads is 0. Pass an integer/);
    expect(() => nativeBackend({ isa: 'neon' as 'generic' })).toThrow(/"neon".*generic/);
  });

  it('counts live bytes, and gives freed memory out again', () => {
    const backend = nativeBackend({ threads: 1 });
    const random = randomAt(1, 'sizes');
    const sizes = Array.from({ length: 100 }, () => random.integer(10_000));
    const buffers = sizes.map((size) => backend.alloc(size));
    expect(backend.allocatedBytes()).toBe(sizes.reduce((a, b) => a + b, 0));
    for (const buffer of buffers) backend.free(buffer);
    expect(backend.allocatedBytes()).toBe(0);
    backend.dispose();
  });

  it('notices a second free, a use after free, and a buffer of another backend', async () => {
    const backend = nativeBackend({ threads: 1 });
    const other = nativeBackend({ threads: 1 });
    const buffer = backend.alloc(16);
    expect(() => other.free(buffer)).toThrow(StateError);
    expect(() => other.write(f32(buffer, 4), new Float32Array(4))).toThrow(/another backend/);
    backend.free(buffer);
    expect(() => backend.free(buffer)).toThrow(StateError);
    expect(() => backend.write(f32(buffer, 4), new Float32Array(4))).toThrow(/has been freed/);
    await expect(backend.read(f32(buffer, 4))).rejects.toThrow(/has been freed/);
    expect(() => backend.free({ sizeBytes: 4 })).toThrow(/not one of the native backend/);
    backend.dispose();
    other.dispose();
    expect(() => backend.alloc(4)).toThrow(/disposed/);
  });

  it('checks views and lengths', () => {
    const backend = nativeBackend({ threads: 1 });
    const buffer = backend.alloc(16);
    expect(() => backend.write(f32(buffer, 5), new Float32Array(5))).toThrow(ShapeError);
    expect(() => backend.write(f32(buffer, 4), new Float32Array(3))).toThrow(/needs 16 bytes/);
    expect(() => backend.alloc(-1)).toThrow(/cannot have -1 bytes/);
    backend.dispose();
  });

  it('gives copies, which later writes do not change', async () => {
    const backend = nativeBackend({ threads: 1 });
    const view = f32(backend.alloc(8), 2);
    backend.write(view, Float32Array.of(1, 2));
    const first = await backend.read(view);
    backend.write(view, Float32Array.of(3, 4));
    expect(first).toEqual(Float32Array.of(1, 2));
    backend.dispose();
  });

  it('supports what it has kernels for, and says why not otherwise', () => {
    const backend = nativeBackend({ threads: 1 });
    const gemm = ops.get('gemm');
    const stored = ['f32', 'f32', undefined, 'f32'] as const;
    expect(backend.supports(gemm, 'forward', stored, {})).toBe(true);
    expect(backend.supports(gemm, 'forward', ['f64', 'f32', undefined, 'f32'], {})).toMatch(
      /x is f64; the kernel takes f32/,
    );
    const rounded = ['bf16', 'bf16', undefined, 'bf16'] as const;
    expect(backend.supports(gemm, 'forward', rounded, {})).toBe(true);
    expect(backend.supports(gemm, 'forward', ['bf16', 'f32', undefined, 'bf16'], {})).toMatch(
      /w is f32, x is bf16; the kernel takes both in the same type/,
    );
    const backward = ['bf16', ...rounded, 'bf16', 'bf16', undefined] as const;
    expect(backend.supports(gemm, 'backward', backward, {})).toMatch(
      /the gradient of w is bf16; the kernel takes f32/,
    );
    const adamw = ops.get('adamwStep');
    expect(backend.supports(adamw, 'forward', ['bf16'], {})).toMatch(/param is bf16.*takes f32/);
    const unknown: Op = { ...gemm, id: 'gemmOfTheFuture' };
    expect(backend.supports(unknown, 'forward', stored, {})).toMatch(/no kernel gemmOfTheFuture/);
    const changed: Op = { ...gemm, scalars: { alpha: 1 } };
    expect(backend.supports(changed, 'forward', stored, {})).toMatch(/older or newer/);
    const scatter = ops.get('scatterRows');
    expect(backend.supports(scatter, 'backward', [], {})).toMatch(/has no backward/);
    backend.dispose();
  });

  it.each(['f32', 'bf16'] as const)('multiplies empty matrices of %s', async (dtype) => {
    const device = openDevice(nativeBackend({ threads: 2 }));
    for (const [M, K, N] of [
      [0, 3, 2],
      [2, 0, 3],
      [2, 3, 0],
    ] as const) {
      const ones = (rows: number, columns: number) =>
        device.upload(dtype, [rows, columns], Array(rows * columns).fill(1));
      const inputs = { x: ones(M, K), w: ones(N, K) };
      const outputs = device.forward(ops.get('gemm'), inputs);
      const gradients = device.backward(ops.get('gemm'), { y: ones(M, N) }, inputs, outputs);
      const read = async (name: 'x' | 'w'): Promise<unknown> =>
        gradients[name] && [...(await device.read(gradients[name]))];
      expect(outputs.y && [...(await device.read(outputs.y))]).toEqual(Array(M * N).fill(0));
      expect(await read('x')).toEqual(Array(M * K).fill(N));
      expect(await read('w')).toEqual(Array(N * K).fill(M));
    }
    device.dispose();
  });

  it.each([
    ['embedding', { table: [2, 3], ids: [1] }, [2], /ids\[0\] is 2; expected.*below 2/],
    ['embedding', { table: [2, 3], ids: [2] }, [0, -1], /ids\[1\] is -1/],
    ['gatherRows', { x: [2, 3], index: [1] }, [5], /index\[0\] is 5/],
    ['scatterRows', { into: [2, 3], x: [1, 3], index: [1] }, [2], /index\[0\] is 2/],
  ] as const)('%s refuses an index out of range in words', async (id, shapes, indices, message) => {
    for (const launches of ['queued', 'blocking'] as const) {
      const device = openDevice(nativeBackend({ threads: 1, launches }));
      const inputs = Object.fromEntries(
        Object.entries(shapes).map(([name, shape]) => {
          const isIndex = name === 'ids' || name === 'index';
          const data = isIndex ? indices : Array(sizeOf(shape)).fill(0);
          return [name, device.upload(isIndex ? 'i32' : 'f32', shape, data)];
        }),
      );
      const run = () => device.forward(ops.get(id), inputs);
      if (launches === 'blocking') {
        expect(run).toThrow(DataError);
        expect(run).toThrow(message);
      } else {
        run();
        await expect(device.synchronize()).rejects.toThrow(message);
      }
      device.dispose();
    }
  });
});
