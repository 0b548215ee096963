/** One pool for all tools of a run, from the first that opens to the last that closes. */
import type { ToolHost } from '@saccade/tools';
import { assetPaths } from '../assets.ts';
import { maxPixels } from '../call-images.ts';
import type { VisionEngine } from './vision-engine.ts';
import { WorkerPool } from './worker-pool.ts';

/** The demands of a tool on the pool; the largest of all tools count. */
export interface EngineNeeds {
  readonly workers: number;
  readonly memoryMb: number;
  /** A folder with operations of its own. */
  readonly folder?: string;
  /** Operations to load before the first call; undefined: at the first call. */
  readonly warm?: readonly string[];
}

/** A tool's hold on the pool. */
export interface EngineLease {
  readonly engine: VisionEngine;
  /** Lets go; the last one ends the processes. */
  release(): Promise<void>;
}

interface Shared {
  readonly pool: WorkerPool;
  count: number;
}

const shared = new WeakMap<ToolHost, Promise<Shared>>();

/**
 * The pool of all tools that have this host. No process starts before a call does, unless `warm` asks.
 *
 * @throws MissingError if there is no Python, ToolError if a process asked to warm up does not start
 */
export async function leaseEngine(host: ToolHost, needs: EngineNeeds): Promise<EngineLease> {
  const opening = shared.get(host) ?? openShared(host, needs);
  shared.set(host, opening);
  const held = await opening.catch((error: unknown) => {
    shared.delete(host);
    throw error;
  });
  held.count++;
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (!isHeld) return;
    isHeld = false;
    held.count--;
    if (held.count > 0) return;
    if (shared.get(host) === opening) shared.delete(host);
    await held.pool.dispose();
  };
  held.pool.raise(needs);
  if (needs.folder !== undefined) held.pool.addFolder(needs.folder);
  try {
    if (needs.warm !== undefined) await held.pool.warm(needs.warm);
  } catch (error) {
    await release();
    throw error;
  }
  return { engine: held.pool, release };
}

async function openShared(host: ToolHost, { workers, memoryMb }: EngineNeeds): Promise<Shared> {
  const python = await host.python();
  const pool = new WorkerPool({ python, workers, memoryMb, maxPixels, assets: assetPaths() });
  return { pool, count: 0 };
}
