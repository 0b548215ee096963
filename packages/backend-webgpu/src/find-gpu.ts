/** Finds WebGPU: the browser's, or Dawn's in Node. */
import { MissingError, messageOf } from '@saccade/core';
import { destroyAtExit } from './destroy-at-exit.ts';
import './web-gpu.ts';

/** WebGPU is available: the adapter that `webgpuBackend` would use, and what it offers. */
export interface WebGpuAvailable {
  readonly available: true;
  /** The adapter, for people: `nvidia, NVIDIA H200`. */
  readonly description: string;
  /** Whether the adapter runs on the CPU, as SwiftShader does. */
  readonly isSoftware: boolean;
  /** All features of the adapter, sorted, by their names in WebGPU. */
  readonly features: readonly string[];
  /** The adapter's limits that kernels depend on, by their names in WebGPU. */
  readonly limits: Readonly<Record<string, number>>;
}

/** WebGPU cannot be used here, with the reason and the remedy. */
export interface WebGpuUnavailable {
  readonly available: false;
  /** The reason and the remedy, in sentences. */
  readonly message: string;
}

/** How to find a device. */
export interface DeviceRequest {
  /** WebGPU's entry point. Default: the browser's, or Dawn's in Node. */
  readonly gpu?: GPU;
  readonly adapter?: GPUAdapter;
  readonly powerPreference?: PowerPreference;
}

/** Which of several adapters: one that saves energy, or one that is fast. */
export type PowerPreference = 'low-power' | 'high-performance';

/** Limits that are requested as high as the adapter has them. */
const REQUESTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
] as const;

/** Matrices of subgroups: not yet in WebGPU; behind a flag in Dawn. */
export const MATRIX_FEATURE: 'chromium-experimental-subgroup-matrix' =
  'chromium-experimental-subgroup-matrix';

/** Features that kernels use if the adapter has them. */
const REQUESTED_FEATURES: readonly string[] = ['subgroups', 'shader-f16', MATRIX_FEATURE];

/** Dawn's entry point in Node. A backend must hold a reference to it. */
let dawn: Promise<GPU> | undefined;

/**
 * The entry point of WebGPU.
 *
 * @throws MissingError  with the reason and the remedy
 */
export async function findGpu(): Promise<GPU> {
  const { navigator } = globalThis as { readonly navigator?: { readonly gpu?: GPU } };
  if (navigator?.gpu !== undefined) return navigator.gpu;
  if (typeof process === 'undefined' || process.versions?.node === undefined) {
    throw new MissingError(
      'This browser offers no WebGPU. Use a current Chrome, Edge, Safari or Firefox over https, ' +
        'or another backend.',
    );
  }
  dawn ??= openDawn([]);
  return dawn;
}

/** The adapter for a power preference. */
export async function findAdapter(
  gpu: GPU,
  powerPreference: PowerPreference | undefined,
): Promise<GPUAdapter> {
  const adapter = await gpu.requestAdapter(
    powerPreference === undefined ? {} : { powerPreference },
  );
  if (adapter !== null) return adapter;
  throw new MissingError(
    'WebGPU finds no adapter here. Install a GPU driver with Vulkan, Metal or Direct3D 12, and on ' +
      'Linux the Vulkan loader (libvulkan1).',
  );
}

/** Reports what WebGPU offers here; never throws. */
export async function probeWebGpu(
  options: Omit<DeviceRequest, 'adapter'> = {},
): Promise<WebGpuAvailable | WebGpuUnavailable> {
  try {
    const gpu = options.gpu ?? (await findGpu());
    const adapter = await findAdapter(gpu, options.powerPreference);
    return {
      available: true,
      description: describeAdapter(adapter.info),
      isSoftware: adapter.info.isFallbackAdapter ?? false,
      features: [...adapter.features].sort(),
      limits: Object.fromEntries(REQUESTED_LIMITS.map((name) => [name, adapter.limits[name]])),
    };
  } catch (error) {
    return { available: false, message: messageOf(error) };
  }
}

/** The features to request from an adapter. The types contain only those of the WebGPU standard. */
export const availableFeatures = (features: ReadonlySet<string>): readonly string[] =>
  REQUESTED_FEATURES.filter((name) => features.has(name));

export interface FoundDevice {
  readonly gpu: GPU | undefined;
  readonly device: GPUDevice;
  /** The adapter's. Dawn lists matrix units here, and none in the device's. */
  readonly info: GPUAdapterInfo;
}

/**
 * Requests a device with all limits and features of its adapter that kernels use.
 *
 * @throws MissingError  with the reason and the remedy
 */
export async function requestDevice(options: DeviceRequest): Promise<FoundDevice> {
  const gpu = options.gpu ?? (options.adapter === undefined ? await findGpu() : undefined);
  const adapter =
    options.adapter ?? (await findAdapter(gpu ?? (await findGpu()), options.powerPreference));
  const { limits, features, info } = adapter;
  const requiredLimits: Record<string, number> = {};
  for (const name of REQUESTED_LIMITS) {
    const most: number | undefined = limits[name];
    if (most !== undefined) requiredLimits[name] = most;
  }
  try {
    const device = await adapter.requestDevice({
      requiredLimits,
      requiredFeatures: availableFeatures(features) as GPUFeatureName[],
    });
    destroyAtExit(device);
    return { gpu, device, info };
  } catch (error) {
    throw new MissingError(
      `The adapter (${describeAdapter(info)}) gives no device: ${messageOf(error)}. ` +
        'Request a new adapter; each gives one device.',
      { cause: error },
    );
  }
}

export function describeAdapter(info: GPUAdapterInfo): string {
  // Browsers hide the model but report the architecture.
  const { vendor, device, architecture, description } = info;
  const parts = [vendor, device || architecture, description].filter((part) => part !== '');
  return parts.join(', ') || 'an adapter that does not say its name';
}

/** Dawn's entry point, opened with its flags: `backend=null`, `adapter=…`. */
export async function openDawn(flags: readonly string[]): Promise<GPU> {
  // With the name in a variable, bundlers for browsers do not follow the import.
  const name = 'webgpu';
  let module: { create(flags: readonly string[]): GPU };
  try {
    module = await import(/* @vite-ignore */ name);
  } catch (error) {
    throw new MissingError(
      `Node has no WebGPU of its own, and the npm package webgpu (Dawn) does not load: ` +
        `${messageOf(error)}. Run \`npm install webgpu@0.6\`.`,
      { cause: error },
    );
  }
  return module.create(flags);
}
