/// <reference types="@webgpu/types" preserve="true" />
/** The page that measures peers which live in browsers, beside our kernels on the page's WebGPU. */
import { probeWebGpu, webgpuBackend } from '@saccade/backend-webgpu';
import { type DType, MissingError, UnsupportedError } from '@saccade/core';
import { type Device, openDevice } from '@saccade/ops';
import { allOps } from '../catalog-ops.ts';
import type { MeasureOptions } from '../measure.ts';
import { type Pass, prepareCase, shortCase } from '../prepared-case.ts';
import { type BesidePeers, runBesidePeers } from './beside-peers.ts';
import { onnxRuntimeWebPeer } from './onnxruntime-web.ts';
import type { Peer } from './peer.ts';

/** One case of an op by its name: the page has the same ops, and draws the same data. */
export interface PageTask extends MeasureOptions {
  readonly op: string;
  readonly case: string;
  readonly dtype: DType;
  readonly pass: Pass;
}

/** Without a task the page says what it is. */
export interface PageRequest {
  readonly task?: PageTask;
}

/** The argument with which the page harness calls `run`. */
interface PageCall {
  readonly request: PageRequest;
}

export interface PageDescription {
  readonly adapter: string;
  readonly isSoftware: boolean;
  readonly hasHalves: boolean;
  /** Version of Chromium. */
  readonly browser: string;
  readonly peers: readonly { readonly name: string; readonly version: string }[];
}

interface OpenPage {
  readonly description: PageDescription;
  readonly device: Device;
  readonly peers: readonly Peer[];
}

const PEER_LIMITS = [
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

let page: Promise<OpenPage> | undefined;

export async function run({ request }: PageCall): Promise<PageDescription | BesidePeers> {
  const { task } = request;
  page ??= openPage();
  const { description, device, peers } = await page;
  return task === undefined ? description : measure(device, peers, task);
}

/** Types of Node know no navigator. */
const browserNavigator = (): { readonly gpu: GPU; readonly userAgent: string } =>
  (globalThis as unknown as { readonly navigator: { gpu: GPU; userAgent: string } }).navigator;

async function openPage(): Promise<OpenPage> {
  const probe = await probeWebGpu();
  if (!probe.available) throw new MissingError(probe.message);
  const device = openDevice(await webgpuBackend());
  const peers = [await onnxRuntimeWebPeer('/onnxruntime-web', await peerDevice())];
  const [, browser = 'a browser'] =
    /(?:Headless)?(Chrome\/\d+)/.exec(browserNavigator().userAgent) ?? [];
  return {
    device,
    peers,
    description: {
      adapter: probe.description,
      isSoftware: probe.isSoftware,
      hasHalves: probe.features.includes('shader-f16'),
      browser,
      peers: peers.map(({ name, version }) => ({ name, version })),
    },
  };
}

/** A device with all that its adapter has, but for what is known to give wrong results. */
async function peerDevice(): Promise<GPUDevice> {
  const adapter = await browserNavigator().gpu.requestAdapter();
  if (adapter === null) throw new MissingError('The page has no adapter for the peer.');
  // The flash attention of ONNX Runtime 1.30 is wrong in SwiftShader's subgroups of four; without
  // subgroups it takes its path through workgroup memory, as on NVIDIA and Apple.
  const isWanted = (feature: string): boolean =>
    !(adapter.info.isFallbackAdapter && feature.startsWith('subgroup'));
  const requiredLimits: Record<string, number> = {};
  for (const name of PEER_LIMITS) requiredLimits[name] = adapter.limits[name];
  return adapter.requestDevice({
    requiredFeatures: ([...adapter.features] as GPUFeatureName[]).filter(isWanted),
    requiredLimits,
  });
}

async function measure(
  device: Device,
  peers: readonly Peer[],
  { op: id, case: name, dtype, pass, ...options }: PageTask,
): Promise<BesidePeers> {
  const op = allOps.find((candidate) => candidate.id === id);
  const opCase = op?.benchCases?.find((candidate) => shortCase(candidate) === name);
  if (op === undefined || opCase === undefined) {
    throw new UnsupportedError(`The page knows no case "${name}" of ${id}.`);
  }
  const wanted = pass === 'both' ? (['forward', 'backward'] as const) : [pass];
  const prepared = prepareCase(device, op, opCase, dtype, wanted);
  try {
    return await runBesidePeers(device, prepared, pass, peers, options);
  } finally {
    prepared.dispose();
  }
}
