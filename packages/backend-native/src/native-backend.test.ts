import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissingError } from '@saccade/core';
import { type BufferView, type Op, ops } from '@saccade/ops';
import { describe, expect, it } from 'vitest';
import { nativeBackend, probeCuda, probeNative } from './index.ts';
import { openAddon } from './load.ts';

describe('probeNative', () => {
  it('names the addon, its instruction sets and its kernels', () => {
    const native = probeNative();
    expect(native).toMatchObject({ available: true });
    expect(native.available && native.instructionSets).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(generic|avx)/)]),
    );
    expect(native.available && native.kernels).toContain('gemm');
  });

  it('says what is missing and how to get it', () => {
    const native = probeNative('/nowhere/saccade.node');
    expect(native).toMatchObject({ available: false, reason: 'not-built' });
    expect(native.available ? '' : native.message).toMatch(/does not exist.*npm run build/);
    expect(() => openAddon('/nowhere/saccade.node')).toThrow(MissingError);
  });

  it('says that the addon is of a better processor, and how to build another', () => {
    const folder = mkdtempSync(join(tmpdir(), 'saccade-native-'));
    try {
      const path = join(folder, 'saccade.cjs');
      writeFileSync(path, 'exports.usableInstructionSets = () => [];\n');
      const native = probeNative(path);
      expect(native).toMatchObject({ available: false, reason: 'other-processor' });
      expect(native.available ? '' : native.message).toMatch(
        /built on another machine: this processor lacks .* `npm run build`/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('names the packages to install where npm installed it', () => {
    const native = probeNative('/home/me/node_modules/@saccade/native/build/Release/saccade.node');
    const message = native.available ? '' : native.message;
    expect(message).toMatch(/^There is no native addon for \S+ here\./);
    expect(message).toContain('`npx saccade-build-native`');
    expect(message).not.toContain('clone');
    const path = '/home/me/node_modules/@saccade/native/build/Release/saccade-cuda.so';
    const cuda = probeCuda({ path });
    expect(cuda.available ? '' : cuda.message).not.toContain('clone');
  });
});

describe('nativeBackend', () => {
  it('describes itself by instruction set and threads', () => {
    const [isa = 'generic'] = openAddon().usableInstructionSets();
    const backend = nativeBackend({ isa, threads: 1 });
    expect(backend.description).toMatch(/^CPU, (generic|AVX\S*)( with \S+)?, 1 thread$/);
    backend.dispose();
  });

  it('refuses options it cannot serve, naming what it can', () => {
    expect(() => nativeBackend({ threads: 0 })).toThrow(/threads is 0. Pass an integer/);
    expect(() => nativeBackend({ isa: 'neon' as 'generic' })).toThrow(
      /"neon".*Pass auto or one of \w/,
    );
  });

  it('says whose a buffer is, and that it is gone', () => {
    const [backend, other] = [nativeBackend({ threads: 1 }), nativeBackend({ threads: 1 })];
    const view: BufferView = { buffer: backend.alloc(4), offsetBytes: 0, dtype: 'f32', length: 1 };
    expect(() => other.write(view, new Float32Array(1))).toThrow(/another backend/);
    expect(() => backend.free({ sizeBytes: 4 })).toThrow(/not one of the native backend/);
    backend.free(view.buffer);
    expect(() => backend.write(view, new Float32Array(1))).toThrow(/has been freed/);
    backend.dispose();
    other.dispose();
    expect(() => backend.alloc(4)).toThrow(/disposed/);
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
});
