/** How the WebGPU backend describes itself and what it refuses, beyond the contract. */
import { ConfigError, DataError } from '@saccade/core';
import { adamwStep, type Backend, type BufferView, gemm, type Op, ops, rotary } from '@saccade/ops';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeWebGpu, webgpuBackend } from './index.ts';
import { probeForTests } from './software-gpu.ts';

const probe = await probeForTests();

const f32 = (buffer: BufferView['buffer'], length: number): BufferView => ({
  buffer,
  offsetBytes: 0,
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

  it('says whose a buffer is, and that it is gone', async () => {
    const other = await webgpuBackend();
    const buffer = backend.alloc(4);
    expect(() => other.write(f32(buffer, 1), new Float32Array(1))).toThrow(/another backend/);
    expect(() => backend.free({ sizeBytes: 4 })).toThrow(/not one of the webgpu backend/);
    backend.free(buffer);
    expect(() => backend.write(f32(buffer, 1), new Float32Array(1))).toThrow(/has been freed/);
    other.dispose();
    expect(() => other.alloc(4)).toThrow(/disposed/);
  });

  it('names the limit and the size of a buffer that is too large', () => {
    expect(() => backend.alloc(2 ** 50)).toThrow(/1125899906842624 bytes.*maxBufferSize is \d+/);
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
    const halves = backend.supports(gemm, 'forward', ['f16', 'f16', undefined, 'f16'], {});
    const lacks = 'x is f16; the kernel takes f32: this device lacks the feature shader-f16.';
    const hasHalves = probe.available && probe.features.includes('shader-f16');
    expect(halves).toBe(hasHalves || lacks);
    const unknown: Op = { ...gemm, id: 'gemmOfTheFuture' };
    expect(backend.supports(unknown, 'forward', stored, {})).toMatch(/no WebGPU kernel gemmOfThe/);
    const changed: Op = { ...gemm, scalars: { alpha: 1 } };
    expect(backend.supports(changed, 'forward', stored, {})).toMatch(/older or newer/);
    expect(backend.supports(ops.get('scatterRows'), 'backward', [], {})).toMatch(/has no backward/);
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
