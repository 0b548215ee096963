/** The limits of a device that kernels depend on, and options that lower them. */
import { ConfigError, UnsupportedError } from '@saccade/core';
import {
  type KernelLimits,
  type MatrixUnit,
  TILE_ROWS,
  type TileRows,
} from '@saccade/webgpu-kernels';
import { MATRIX_FEATURE } from './find-gpu.ts';
import './web-gpu.ts';

export interface LimitOptions {
  /** False: kernels run without subgroups even if the device has them. */
  readonly subgroups?: boolean;
  /** Bytes of workgroup memory kernels may use, at most what the device has. */
  readonly workgroupBytes?: number;
  /** Bytes of one binding, at most what the device has; larger arrays are bound in slices. */
  readonly bindingBytes?: number;
  /** Rows of the tiles of matrix products. Default: by the shape. The bits are the same. */
  readonly tileRows?: TileRows;
  /** Whether kernels treat the adapter as one that runs on the CPU. Default: by the adapter. */
  readonly isSoftware?: boolean;
  /**
   * True: products of float16 use the device's matrix units, an experimental feature. Their order
   * of summation differs. Default: false.
   */
  readonly matrixUnits?: boolean;
}

/**
 * Sums in a fixed order need chunks that are bound whole: 8192 numbers of a norm, 64 rows of a
 * weight's gradient. Every device binds 128 MiB; less than this is refused before anything runs.
 */
const LEAST_BOUND = 65_536;

/**
 * Bindings begin at multiples of 256 bytes, so an array may lose that much of the device's limit.
 */
const LOST_TO_ALIGNMENT = 512;

/**
 * @throws ConfigError       if an option exceeds the device's limit, or is too small to work
 * @throws UnsupportedError  if matrix units are requested and cannot be used
 */
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
    bindingBytes: within('bindingBytes', bound - (bound % 16) - LOST_TO_ALIGNMENT, LEAST_BOUND),
    workgroupsPerAxis: limits.maxComputeWorkgroupsPerDimension,
    arraysPerPass: limits.maxStorageBuffersPerShaderStage,
    hasSubgroups: device.features.has('subgroups') && options.subgroups !== false,
    subgroupMinSize: info.subgroupMinSize ?? 4,
    subgroupMaxSize: info.subgroupMaxSize ?? 128,
    isSoftware: options.isSoftware ?? isSoftware(info),
    tileRows,
    matrixUnit: matrixUnit(device, info, options.matrixUnits ?? false),
  };
}

/** Adapters report it since 2025; before, it is known by name. */
function isSoftware({ isFallbackAdapter, architecture, description }: GPUAdapterInfo): boolean {
  return isFallbackAdapter || /swiftshader|llvmpipe/i.test(`${architecture} ${description}`);
}

/** The matrix units that an adapter reports, `info.subgroupMatrixConfigs` in Dawn. */
interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

const MATRIX_BYTES = 32_768;
const MATRIX_SUBGROUP = 32;

function matrixUnit(
  { features, limits }: GPUDevice,
  info: GPUAdapterInfo & { readonly subgroupMatrixConfigs?: Iterable<MatrixConfig> },
  isWanted: boolean,
): MatrixUnit | undefined {
  if (!isWanted) return undefined;
  const refuse = (fact: string, remedy: string): never => {
    throw new UnsupportedError(`Matrix units: ${fact}. ${remedy}, or leave matrixUnits out.`);
  };
  for (const feature of [MATRIX_FEATURE, 'shader-f16', 'subgroups']) {
    if (features.has(feature)) continue;
    return refuse(
      `this device lacks the feature ${feature}`,
      'In Node open Dawn with enable-dawn-features=allow_unsafe_apis, in Chromium start with ' +
        '--enable-unsafe-webgpu, on a GPU with cooperative matrices',
    );
  }
  if (limits.maxComputeWorkgroupStorageSize < MATRIX_BYTES) {
    return refuse(
      `they need ${MATRIX_BYTES} bytes of workgroup memory, this device has ` +
        `${limits.maxComputeWorkgroupStorageSize}`,
      'Request more with the device',
    );
  }
  if ((info.subgroupMaxSize ?? Infinity) > MATRIX_SUBGROUP) {
    return refuse(
      `subgroups here have up to ${info.subgroupMaxSize} threads, the kernels take ${MATRIX_SUBGROUP}`,
      'Use another device',
    );
  }
  const configs = [...(info.subgroupMatrixConfigs ?? [])];
  for (const size of [16, 8] as const) {
    const isThere = configs.some(
      ({ componentType, resultComponentType, M, N, K }) =>
        componentType === 'f16' &&
        resultComponentType === 'f32' &&
        [M, N, K].every((n) => n === size),
    );
    if (isThere) return { size };
  }
  const list = configs
    .map((c) => `${c.M}x${c.N}x${c.K} ${c.componentType} to ${c.resultComponentType}`)
    .join(', ');
  return refuse(
    `the kernels take 16x16x16 or 8x8x8 of f16 to f32; this device has ${list || 'none'}`,
    'Use another device',
  );
}
