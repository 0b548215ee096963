/** Examples made many at a time, with progress. */
import type { EventSink } from '@saccade/core';

/** How many are made at once: each has images to encode and decode. */
const CHUNK = 256;

/** The examples 0 to count − 1, in order. */
export async function inChunks<T>(
  stage: string,
  { count, onEvent }: { readonly count: number; readonly onEvent?: EventSink },
  make: (index: number) => Promise<T>,
): Promise<T[]> {
  const examples: T[] = [];
  while (examples.length < count) {
    const first = examples.length;
    const chunk = Array.from({ length: Math.min(CHUNK, count - first) }, (_, i) => make(first + i));
    examples.push(...(await Promise.all(chunk)));
    onEvent?.({ kind: 'progress', stage, done: examples.length, total: count });
  }
  return examples;
}
