/**
 * Products by matrix units: that their shaders compile, for Dawn's null device, and what is said where
 * there are none. No adapter that tests run on has such units, so nothing here computes.
 */
import { type GpuArray, type Shader, type Storage, webGpuKernels } from '@saccade/webgpu-kernels';
import { describe, expect, it } from 'vitest';
import { availableFeatures, findAdapter, MATRIX_FEATURE } from './find-gpu.ts';
import { webgpuBackend } from './index.ts';
import { shaderText } from './shader-text.ts';
import { probeForTests } from './software-gpu.ts';
import { openNullGpu } from './test-device.fixture.ts';

const probe = await probeForTests();
const gpu = await openNullGpu(['enable-dawn-features=allow_unsafe_apis']);

const array = (storage: Storage, length: number): GpuArray => ({
  storage,
  length,
  isAligned: true,
  slice: (start, end) => array(storage, end - start),
});

/** The shaders of an op that use units, in float16. */
function shadersOf(id: string, dims: Readonly<Record<string, number>>, size: 8 | 16): Shader[] {
  const kernel = webGpuKernels.find(({ op }) => op === id);
  if (kernel === undefined) return [];
  const f16 = ['x', 'w', 'y', 'hidden', 'weight', 'dX', 'dY', 'dHidden'];
  const f32 = ['dW', 'dWeight', 'logprobs', 'entropy', 'lse', 'dLogprobs'];
  const i32 = ['targets', 'keys', 'tokens'];
  const of = (names: readonly string[], storage: Storage) =>
    names.map((name) => [name, array(storage, 1 << 20)] as const);
  const call = {
    dims,
    scalars: { temperature: 1 },
    storage: 'f16' as const,
    arrays: Object.fromEntries([...of(f16, 'f16'), ...of(f32, 'f32'), ...of(i32, 'i32')]),
    limits: {
      workgroupBytes: 32_768,
      workgroupThreads: 256,
      bindingBytes: 1 << 27,
      workgroupsPerAxis: 65_535,
      arraysPerPass: 8,
      hasSubgroups: true,
      subgroupMinSize: 32,
      subgroupMaxSize: 32,
      isSoftware: false,
      matrixUnit: { size },
    },
    scratch: array,
  };
  const passes = [...kernel.forward(call), ...(kernel.backward?.(call) ?? [])];
  return passes.map(({ shader }) => shader).filter(({ matrices }) => matrices === true);
}

describe.skipIf(gpu === undefined)('matrix units', () => {
  it.each([
    { op: 'gemm', dims: { M: 70, K: 40, N: 72 }, count: 3, size: 16 },
    { op: 'gemm', dims: { M: 3, K: 41, N: 70 }, count: 3, size: 8 },
    { op: 'linearLogprob', dims: { N: 70, D: 40, V: 300 }, count: 2, size: 16 },
    { op: 'linearSample', dims: { N: 2, D: 41, V: 300, Q: 4 }, count: 1, size: 8 },
  ] as const)('of $size take the products of $op', async ({ op, dims, count, size }) => {
    const adapter = await findAdapter(gpu as GPU, undefined);
    expect(adapter.features.has(MATRIX_FEATURE as GPUFeatureName)).toBe(true);
    const requiredFeatures = availableFeatures(adapter.features) as GPUFeatureName[];
    const device = await adapter.requestDevice({ requiredFeatures });
    const shaders = shadersOf(op, dims, size);
    expect(shaders).toHaveLength(count);
    for (const shader of shaders) {
      const code = shaderText(shader, 'f16');
      const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
      const errors = messages.filter(({ type }) => type === 'error');
      expect(errors.map(({ lineNum, message }) => `${lineNum}: ${message}`)).toEqual([]);
    }
    device.destroy();
  });

  it('are refused with the reason and the remedy', async () => {
    await expect(webgpuBackend({ gpu: gpu as GPU, matrixUnits: true })).rejects.toThrow(
      /^Matrix units: they need 32768 bytes of workgroup memory, this device has 16384\. .* or leave/,
    );
  });
});

it.skipIf(!probe.available || probe.features.includes(MATRIX_FEATURE))(
  'names the feature that a device lacks',
  async () => {
    await expect(webgpuBackend({ matrixUnits: true })).rejects.toThrow(
      /lacks the feature chromium-experimental-subgroup-matrix\. In Node open Dawn with/,
    );
  },
);
