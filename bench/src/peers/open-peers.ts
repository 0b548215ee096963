/** Opens the peers that can be had on this machine, and says why others cannot. */
import { messageOf } from '@saccade/core';
import { type PackagePeer, processorPeers, webGpuPeers } from './package-peers.ts';
import type { Peer } from './peer.ts';
import { torchPeer } from './torch.ts';

export interface OpenPeers {
  readonly peers: readonly Peer[];
  /** One sentence for each peer that is not there. */
  readonly absent: readonly string[];
}

/** @param python  an interpreter with torch; without one torch is absent */
export async function openProcessorPeers(
  python: string | undefined,
  threads: number,
): Promise<OpenPeers> {
  if (python === undefined) {
    const { peers, absent } = await openAll(processorPeers, threads);
    return { peers, absent: ['torch: pass --python with an interpreter that has it.', ...absent] };
  }
  const torch = { name: 'torch', open: () => torchPeer(python, threads) };
  return openAll([torch, ...processorPeers], threads);
}

/** `navigator.gpu` must be there. */
export const openWebGpuPeers = (threads: number): Promise<OpenPeers> =>
  openAll(webGpuPeers, threads);

async function openAll(openers: readonly PackagePeer[], threads: number): Promise<OpenPeers> {
  const peers: Peer[] = [];
  const absent: string[] = [];
  for (const { name, open } of openers) {
    try {
      peers.push(await open(threads));
    } catch (error) {
      absent.push(`${name}: ${messageOf(error).split('\n').slice(0, 3).join(' ')}`);
    }
  }
  return { peers, absent };
}
