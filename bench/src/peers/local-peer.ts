/** A peer in this process, from what its library can do: get ready for a task, do it, wait. */
import { type DType, messageOf } from '@saccade/core';
import { timeOnce } from '../time-once.ts';
import type { Peer, PeerTask } from './peer.ts';

export interface LocalTask {
  /** Does the task once; where there is a `wait`, queues it. */
  run(): void | Promise<void>;
  /** Resolves when all that was queued is done. */
  wait?(): Promise<void>;
  /** Does it and reads what it gives, by our names. */
  read(): Promise<Readonly<Record<string, ArrayLike<number>>>>;
  dispose(): Promise<void>;
}

export interface LocalPeer {
  readonly name: string;
  readonly version: string;
  /** Storage types it computes in. Default: float32 alone. */
  readonly dtypes?: readonly DType[];
  /** A sentence where the library does not have the op in this form. */
  prepare(task: PeerTask): Promise<LocalTask | string>;
  /** Gives back what the library holds for the whole run. */
  dispose?(): void;
}

export function localPeer({ name, version, dtypes = ['f32'], prepare, dispose }: LocalPeer): Peer {
  return {
    name,
    version,
    async prepare(task) {
      if (!dtypes.includes(task.dtype)) return `computes in float32 here, not ${task.dtype}`;
      let ready: LocalTask | string;
      let results: Awaited<ReturnType<LocalTask['read']>>;
      let firstSeconds: number;
      try {
        ready = await prepare(task);
        if (typeof ready === 'string') return ready;
        const start = performance.now();
        results = await ready.read();
        firstSeconds = (performance.now() - start) / 1000;
      } catch (error) {
        return `fails: ${messageOf(error).split('\n')[0]}`;
      }
      const { run, wait = async () => {}, dispose } = ready;
      return {
        results,
        // The first run of a queue compiles its pipelines: it says nothing about the next.
        ...(ready.wait === undefined && { firstSeconds }),
        time: (launches) => timeOnce(run, wait, launches),
        dispose,
      };
    },
    async dispose() {
      dispose?.();
    },
  };
}
