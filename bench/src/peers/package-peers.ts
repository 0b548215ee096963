/** Peers from npm, in a folder of their own so that nobody installs them who does not compare. */
import { jaxJsPeer } from './jax-js.ts';
import { onnxRuntimePeer } from './onnxruntime.ts';
import type { Peer } from './peer.ts';
import { tfjsPeer, tfjsWebGpuPeer } from './tfjs.ts';

export interface PackagePeer {
  readonly name: 'torch' | 'onnxruntime' | 'jax-js' | 'tfjs';
  open(threads: number): Promise<Peer>;
}

/** Those that compute on the processor. */
export const processorPeers: readonly PackagePeer[] = [
  { name: 'onnxruntime', open: onnxRuntimePeer },
  { name: 'jax-js', open: () => jaxJsPeer('wasm') },
  { name: 'tfjs', open: tfjsPeer },
];

/** Those that compute on WebGPU in this process. */
export const webGpuPeers: readonly PackagePeer[] = [
  { name: 'jax-js', open: () => jaxJsPeer('webgpu') },
  { name: 'tfjs', open: tfjsWebGpuPeer },
];
