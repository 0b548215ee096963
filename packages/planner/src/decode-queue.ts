/** Sequences that are decoded, by when they end; the first to end comes first. */
import type { EngineJob } from './engine-job.ts';

/** A binary heap over `finish`; a job that is removed from its middle is skipped when it comes up. */
export class DecodeQueue {
  readonly #heap: EngineJob[] = [];
  readonly #members = new Set<EngineJob>();

  get size(): number {
    return this.#members.size;
  }

  get first(): EngineJob | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || this.#members.has(top)) return top;
      this.#pop();
    }
  }

  push(job: EngineJob): void {
    this.#members.add(job);
    const heap = this.#heap;
    heap.push(job);
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (finishAt(heap, parent) <= job.finish) break;
      heap[at] = heap[parent] as EngineJob;
      at = parent;
    }
    heap[at] = job;
  }

  remove(job: EngineJob): void {
    this.#members.delete(job);
    if (this.#heap[0] === job) this.#pop();
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (finishAt(heap, child + 1) < finishAt(heap, child)) child++;
      if (finishAt(heap, child) >= last.finish) break;
      heap[at] = heap[child] as EngineJob;
      at = child;
    }
    heap[at] = last;
  }
}

function finishAt(heap: readonly EngineJob[], at: number): number {
  return heap[at]?.finish ?? Number.POSITIVE_INFINITY;
}
