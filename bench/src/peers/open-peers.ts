/** Opens the peers that can be had on this machine, and says why others cannot. */
import { messageOf } from '@saccade/core';
import { packagePeers } from './package-peers.ts';
import type { Peer } from './peer.ts';
import { torchPeer } from './torch.ts';

export interface OpenPeers {
  readonly peers: readonly Peer[];
  /** One sentence for each peer that is not there. */
  readonly absent: readonly string[];
}

/** @param python  an interpreter with torch; without one torch is absent */
export async function openPeers(python: string | undefined, threads: number): Promise<OpenPeers> {
  const peers: Peer[] = [];
  const absent: string[] = [];
  const openers: readonly (readonly [string, () => Promise<Peer>])[] = [
    ...(python === undefined ? [] : [['torch', () => torchPeer(python, threads)] as const]),
    ...packagePeers.map(({ name, open }) => [name, () => open(threads)] as const),
  ];
  if (python === undefined) absent.push('torch: pass --python with an interpreter that has it.');
  for (const [name, open] of openers) {
    try {
      peers.push(await open());
    } catch (error) {
      absent.push(`${name}: ${messageOf(error).split('\n').slice(0, 3).join(' ')}`);
    }
  }
  return { peers, absent };
}
