/** Examples made many at a time, with progress, beside what else waits for its turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventSink } from '@saccade/core';

/** After how many progress is said. */
const CHUNK = 256;

/**
 * How many are made between two turns of the event loop: some 20 ms of work, so that sandboxes whose
 * replies are there meanwhile do not stand still for longer.
 */
const AT_ONCE = 16;

/** How many examples, who hears of them, and what ends their making. */
interface ChunkOptions {
  readonly count: number;
  readonly signal?: AbortSignal;
  readonly onEvent?: EventSink;
}

/**
 * The examples 0 to count − 1, in order.
 *
 * @throws the signal's reason if it is aborted
 */
export async function inChunks<T>(
  stage: string,
  { count, signal, onEvent }: ChunkOptions,
  make: (index: number) => Promise<T>,
): Promise<T[]> {
  const examples: T[] = [];
  while (examples.length < count) {
    signal?.throwIfAborted();
    const first = examples.length;
    const chunk = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) =>
      make(first + i),
    );
    examples.push(...(await Promise.all(chunk)));
    const { length: done } = examples;
    if (done % CHUNK === 0 || done === count) {
      onEvent?.({ kind: 'progress', stage, done, total: count });
    }
    await nextTurn();
  }
  return examples;
}
