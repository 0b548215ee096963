/** Peers from npm, in a folder of their own so that nobody installs them who does not compare. */
import { jaxJsPeer } from './jax-js.ts';
import { onnxRuntimePeer } from './onnxruntime.ts';
import type { Peer } from './peer.ts';
import { tfjsPeer } from './tfjs.ts';

export interface PackagePeer {
  readonly name: string;
  open(threads: number): Promise<Peer>;
}

export const packagePeers: readonly PackagePeer[] = [
  { name: 'onnxruntime', open: onnxRuntimePeer },
  { name: 'jax-js', open: jaxJsPeer },
  { name: 'tfjs', open: tfjsPeer },
];
