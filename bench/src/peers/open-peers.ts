/** Opens the peers that can be had on this machine, and says why others cannot. */
import { messageOf } from '@saccade/core';
import { type BrowserPeers, openBrowserPeers } from './browser-peers.ts';
import { type PackagePeer, processorPeers, webGpuPeers } from './package-peers.ts';
import type { Peer } from './peer.ts';
import { torchPeer } from './torch.ts';

export interface OpenPeers {
  readonly peers: readonly Peer[];
  /** Those that a page measures. */
  readonly browser?: BrowserPeers;
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

/**
 * `navigator.gpu` must be there.
 *
 * @param isSoftware  whether it is a processor
 */
export async function openWebGpuPeers(threads: number, isSoftware: boolean): Promise<OpenPeers> {
  const { peers, absent } = await openAll(webGpuPeers, threads);
  try {
    return { peers, browser: await openBrowserPeers(isSoftware), absent };
  } catch (error) {
    return { peers, absent: [...absent, `onnxruntime-web: ${reasonOf(error)}`] };
  }
}

async function openAll(openers: readonly PackagePeer[], threads: number): Promise<OpenPeers> {
  const peers: Peer[] = [];
  const absent: string[] = [];
  for (const { name, open } of openers) {
    try {
      peers.push(await open(threads));
    } catch (error) {
      absent.push(`${name}: ${reasonOf(error)}`);
    }
  }
  return { peers, absent };
}

const reasonOf = (error: unknown): string => messageOf(error).split('\n').slice(0, 3).join(' ');
