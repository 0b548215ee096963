/** What a device offers to kernels, and the options that make it offer less. */
import { ConfigError } from '@saccade/core';
import { type KernelLimits, TILE_ROWS, type TileRows } from '@saccade/webgpu-kernels';

export interface LimitOptions {
  /** False: kernels run without subgroups even where the device has them. */
  readonly subgroups?: boolean;
  /** Bytes of workgroup memory kernels may use, at most what the device has. */
  readonly workgroupBytes?: number;
  /** Bytes of one binding, at most what the device has; bigger arrays are bound in slices. */
  readonly bindingBytes?: number;
  /** Rows of the tiles of matrix products. Default: by the shape. The bits are the same. */
  readonly tileRows?: TileRows;
  /** Whether kernels choose as for an adapter that runs on the CPU. Default: by the adapter. */
  readonly isSoftware?: boolean;
}

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
  const { tileRows } = options;
  if (tileRows !== undefined && !TILE_ROWS.includes(tileRows)) {
    throw new ConfigError(
      'tileRows',
      `tileRows is ${tileRows}. Pass ${TILE_ROWS.join(' or ')}, or leave it out.`,
    );
  }
  const within = (name: 'workgroupBytes' | 'bindingBytes', most: number, least: number): number => {
    const value = options[name];
    if (value === undefined) return most;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw new ConfigError(name, `${name} is ${value}. Pass a number from ${least} to ${most}.`);
  };
  return {
    workgroupBytes: within('workgroupBytes', limits.maxComputeWorkgroupStorageSize, 16384),
    workgroupThreads: limits.maxComputeInvocationsPerWorkgroup,
    bindingBytes: within('bindingBytes', bound - (bound % 16) - LOST_TO_ALIGNMENT, 4096),
    workgroupsPerAxis: limits.maxComputeWorkgroupsPerDimension,
    arraysPerPass: limits.maxStorageBuffersPerShaderStage,
    hasSubgroups: device.features.has('subgroups') && options.subgroups !== false,
    subgroupMinSize: info.subgroupMinSize ?? 4,
    subgroupMaxSize: info.subgroupMaxSize ?? 128,
    isSoftware: options.isSoftware ?? isSoftware(info),
    tileRows,
  };
}

/** Adapters say so since 2025; before, by name. */
function isSoftware({ isFallbackAdapter, architecture, description }: GPUAdapterInfo): boolean {
  return isFallbackAdapter || /swiftshader|llvmpipe/i.test(`${architecture} ${description}`);
}
