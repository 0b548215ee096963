/// <reference types="@webgpu/types" preserve="true" />
/** The device that the stages on a GPU run on, or why there is none. */
import { cudaBackend, describeDevice, probeCuda } from '@saccade/backend-native';
import { probeWebGpu, webgpuBackend } from '@saccade/backend-webgpu';
import { offerSoftwareGpu } from '@saccade/backend-webgpu/software-gpu';
import { type DType, messageOf } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';

/**
 * The ways to a GPU: CUDA; WebGPU as it is in Node; with float16, which Dawn hides on NVIDIA's driver
 * for Vulkan; and with products by matrix units, which it hides everywhere.
 */
export const GPU_APIS = ['cuda', 'webgpu', 'webgpu-f16', 'webgpu-units'] as const;
export type GpuApi = (typeof GPU_APIS)[number];

/** The storage types that each takes; matrix units multiply float16 alone. */
export const API_TYPES: Readonly<Record<GpuApi, readonly DType[]>> = {
  cuda: ['f32', 'bf16', 'f16'],
  webgpu: ['f32'],
  'webgpu-f16': ['f16'],
  'webgpu-units': ['f16'],
};

/** The storage type of the table, in which the peers are timed too. */
export const TABLE_TYPES: Readonly<Record<GpuApi, DType>> = {
  cuda: 'bf16',
  webgpu: 'f32',
  'webgpu-f16': 'f16',
  'webgpu-units': 'f16',
};

export interface GpuChoice {
  readonly api: GpuApi;
  /** The emulated CUDA library, or an installed Chromium's SwiftShader, for tests. */
  readonly emulated: boolean;
}

export type GpuState =
  | { readonly isThere: true; readonly description: string }
  | { readonly isThere: false; readonly reason: string };

/** Looks without keeping anything open. */
export async function findGpu({ api, emulated }: GpuChoice): Promise<GpuState> {
  return api === 'cuda' ? findCuda(emulated) : findWebGpu(api, emulated);
}

function findCuda(emulated: boolean): GpuState {
  const probe = probeCuda({ emulated });
  if (!probe.available) return { isThere: false, reason: probe.message };
  const usable = probe.devices.filter(({ obstacle }) => obstacle === undefined);
  return { isThere: true, description: usable.map(describeDevice).join('; ') };
}

async function findWebGpu(api: Exclude<GpuApi, 'cuda'>, emulated: boolean): Promise<GpuState> {
  let gpu: GPU;
  try {
    gpu = await openDawn(api, emulated);
  } catch (error) {
    return { isThere: false, reason: messageOf(error) };
  }
  const probe = await probeWebGpu({ gpu });
  if (!probe.available) return { isThere: false, reason: probe.message };
  if (probe.isSoftware && !emulated) {
    return { isThere: false, reason: `WebGPU finds only ${probe.description}, on the processor.` };
  }
  return { isThere: true, description: `${probe.description}: ${probe.features.join(', ')}` };
}

/** @throws MissingError, CudaError, UnsupportedError where there are no matrix units */
export async function openGpu(
  { api, emulated }: GpuChoice,
  poisonWorkspaces = false,
): Promise<Device> {
  if (api === 'cuda') return openDevice(cudaBackend({ emulated, poisonWorkspaces }));
  const gpu = await openDawn(api, emulated);
  const matrixUnits = api === 'webgpu-units';
  return openDevice(await webgpuBackend({ gpu, matrixUnits, poisonWorkspaces }));
}

const F16 = 'vulkan_enable_f16_on_nvidia';
const DAWN_FLAGS: Readonly<Record<Exclude<GpuApi, 'cuda'>, readonly string[]>> = {
  webgpu: [],
  'webgpu-f16': [`enable-dawn-features=${F16}`],
  'webgpu-units': [`enable-dawn-features=allow_unsafe_apis,${F16}`],
};

async function openDawn(api: Exclude<GpuApi, 'cuda'>, emulated: boolean): Promise<GPU> {
  if (emulated) offerSoftwareGpu();
  const dawn = await import('webgpu');
  return dawn.create([...DAWN_FLAGS[api]]);
}
