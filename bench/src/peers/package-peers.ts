/** Peers from npm, in a folder of their own so that nobody installs them who does not compare. */
import type { Peer } from './peer.ts';

export interface PackagePeer {
  readonly name: string;
  open(threads: number): Promise<Peer>;
}

export const packagePeers: readonly PackagePeer[] = [];
