/** Opens the peers that can be had on this machine, and says why others cannot. */
import { ConfigError, MissingError, messageOf } from '@saccade/core';
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

const NAMES = ['torch', 'onnxruntime', 'jax-js', 'tfjs', 'onnxruntime-web'] as const;

/** Whether a peer is asked for. */
export type IsWanted = (name: (typeof NAMES)[number]) => boolean;

/**
 * @param names  comma between; true: all
 * @throws ConfigError for a name that no peer has
 */
export function parsePeers(names: true | string): IsWanted {
  if (names === true) return () => true;
  const wanted = new Set(names.split(',').map((name) => name.trim()));
  for (const name of wanted) {
    if (NAMES.some((known) => known === name)) continue;
    throw new ConfigError(
      'peers',
      `There is no peer "${name}". Pass some of: ${NAMES.join(', ')}.`,
    );
  }
  return (name) => wanted.has(name);
}

/** Of peers asked for by their names, those that this backend has nothing of: a sentence for each. */
export function missingPeers(
  names: true | string | undefined,
  { peers, browser, absent }: OpenPeers,
): readonly string[] {
  if (names === undefined || names === true) return [];
  const isThere = (name: string): boolean =>
    peers.some((peer) => peer.name === name) ||
    absent.some((why) => why.startsWith(`${name}:`)) ||
    (name === 'onnxruntime-web' && browser !== undefined);
  const wanted = parsePeers(names);
  return NAMES.filter((name) => wanted(name) && !isThere(name)).map(
    (name) => `${name}: has nothing for this backend.`,
  );
}

/** @param python  an interpreter with torch; without one torch is absent */
export async function openProcessorPeers(
  isWanted: IsWanted,
  python: string | undefined,
  threads: number,
): Promise<OpenPeers> {
  const open = (): Promise<Peer> => {
    if (python === undefined)
      throw new MissingError('Pass --python with an interpreter that has it.');
    return torchPeer(python, threads);
  };
  return openAll([{ name: 'torch', open }, ...processorPeers], isWanted, threads);
}

/**
 * `navigator.gpu` must be there.
 *
 * @param isSoftware  whether it is a processor
 */
export async function openWebGpuPeers(
  isWanted: IsWanted,
  threads: number,
  isSoftware: boolean,
): Promise<OpenPeers> {
  const { peers, absent } = await openAll(webGpuPeers, isWanted, threads);
  if (!isWanted('onnxruntime-web')) return { peers, absent };
  try {
    return { peers, browser: await openBrowserPeers(isSoftware), absent };
  } catch (error) {
    return { peers, absent: [...absent, `onnxruntime-web: ${reasonOf(error)}`] };
  }
}

async function openAll(
  openers: readonly PackagePeer[],
  isWanted: IsWanted,
  threads: number,
): Promise<OpenPeers> {
  const peers: Peer[] = [];
  const absent: string[] = [];
  for (const { name, open } of openers) {
    if (!isWanted(name)) continue;
    try {
      peers.push(await open(threads));
    } catch (error) {
      absent.push(`${name}: ${reasonOf(error)}`);
    }
  }
  return { peers, absent };
}

const reasonOf = (error: unknown): string => messageOf(error).split('\n').slice(0, 3).join(' ');
