/** What a device offers to kernels, and the options that make it offer less. */
import { ConfigError } from '@saccade/core';
import type { KernelLimits } from '@saccade/webgpu-kernels';

export interface LimitOptions {
  /** False: kernels run without subgroups even where the device has them. */
  readonly subgroups?: boolean;
  /** Bytes of workgroup memory kernels may use, at most what the device has. */
  readonly workgroupBytes?: number;
  /** Bytes of one binding, at most what the device has; bigger arrays are bound in slices. */
  readonly bindingBytes?: number;
}

/**
 * Sums in a fixed order take chunks that are bound whole: 8192 numbers of a norm, 64 rows of a
 * weight's gradient. Every device binds 128 MiB; less than this is refused before anything runs.
 */
const LEAST_BOUND = 65_536;

/** Bindings begin at multiples of 256 bytes: what an array may lose of the device's limit. */
const LOST_TO_ALIGNMENT = 512;

/** @throws ConfigError  if an option asks for more than the device has, or too little to work */
export function kernelLimits(
  device: GPUDevice,
  info: GPUAdapterInfo,
  options: LimitOptions,
): KernelLimits {
  const { limits } = device;
  const bound = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const within = (name: keyof LimitOptions, most: number, least: number): number => {
    const value = options[name];
    if (value === undefined) return most;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw new ConfigError(name, `${name} is ${value}. Pass a number from ${least} to ${most}.`);
  };
  return {
    workgroupBytes: within('workgroupBytes', limits.maxComputeWorkgroupStorageSize, 16384),
    workgroupThreads: limits.maxComputeInvocationsPerWorkgroup,
    bindingBytes: within('bindingBytes', bound - (bound % 16) - LOST_TO_ALIGNMENT, LEAST_BOUND),
    workgroupsPerAxis: limits.maxComputeWorkgroupsPerDimension,
    arraysPerPass: limits.maxStorageBuffersPerShaderStage,
    hasSubgroups: device.features.has('subgroups') && options.subgroups !== false,
    subgroupMinSize: info.subgroupMinSize ?? 4,
    subgroupMaxSize: info.subgroupMaxSize ?? 128,
  };
}
