/** The events that are still to come, in the order of their times. */

/** A planned event; `isCancelled` takes it back without searching the agenda. */
export interface Planned {
  readonly seconds: number;
  readonly run: () => void;
  isCancelled: boolean;
}

interface Entry extends Planned {
  /** Breaks ties: what was planned first happens first. */
  readonly order: number;
}

/** A clock that only events advance: a binary heap, so that a million events stay cheap. */
export class Agenda {
  readonly #heap: Entry[] = [];
  #planned = 0;
  #seconds = 0;

  /** Seconds since the beginning of the simulation. */
  get seconds(): number {
    return this.#seconds;
  }

  /** Plans an event `delay` seconds from now. */
  after(delay: number, run: () => void): Planned {
    const seconds = this.#seconds + Math.max(0, delay);
    const entry: Entry = { seconds, run, isCancelled: false, order: this.#planned++ };
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return entry;
  }

  /** Lets the next event happen. False if there is none. */
  step(): boolean {
    for (;;) {
      const next = this.#take();
      if (next === undefined) return false;
      if (next.isCancelled) continue;
      this.#seconds = next.seconds;
      next.run();
      return true;
    }
  }

  #take(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at], heap[parent])) return;
      swap(heap, at, parent);
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBefore(heap[child], heap[least])) least = child;
      }
      if (least === at) return;
      swap(heap, at, least);
      at = least;
    }
  }
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.order < b.order);
}

function swap(heap: Entry[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]];
  if (first === undefined || second === undefined) return;
  heap[a] = second;
  heap[b] = first;
}
