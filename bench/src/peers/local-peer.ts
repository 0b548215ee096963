/** A peer in this process, from two things its library can do: get ready for a task, and do it. */
import { performance } from 'node:perf_hooks';
import { messageOf } from '@saccade/core';
import type { Peer, PeerTask } from './peer.ts';

export interface LocalTask {
  /** Does the task once; resolves when it is done. */
  run(): Promise<void>;
  /** Does it and reads what it gives, by our names. */
  read(): Promise<Readonly<Record<string, ArrayLike<number>>>>;
  dispose(): Promise<void>;
}

export interface LocalPeer {
  readonly name: string;
  readonly version: string;
  /** A sentence where the library does not have the op in this form. */
  prepare(task: PeerTask): Promise<LocalTask | string>;
}

export function localPeer({ name, version, prepare }: LocalPeer): Peer {
  return {
    name,
    version,
    async prepare(task) {
      if (task.dtype !== 'f32') return `computes in float32 here, not ${task.dtype}`;
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
      const { run, dispose } = ready;
      return {
        results,
        firstSeconds,
        async time(launches) {
          const start = performance.now();
          for (let i = 0; i < launches; i++) await run();
          return (performance.now() - start) / 1000 / launches;
        },
        dispose,
      };
    },
    async dispose() {},
  };
}
