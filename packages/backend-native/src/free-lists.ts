/** Freed memory that waits for its next use, by size; what nobody asks for goes first. */

/** Memory that launches name by its id. */
export interface Allocation {
  readonly id: number;
  readonly sizeBytes: number;
}

interface FreeList {
  readonly allocations: Allocation[];
  /** When an allocation last came or went. */
  lastUse: number;
}

export class FreeLists {
  readonly #bySize = new Map<number, FreeList>();
  #sizeBytes = 0;
  #clock = 0;

  /** Bytes of all that waits. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Memory of at least this size, if some waits: the smallest there is, and at most half of it
   * unused. Batches differ in length, so exactly the same size is rarely asked for again.
   */
  take(sizeBytes: number): Allocation | undefined {
    for (let size = sizeClass(sizeBytes); size <= 2 * sizeBytes + 64; size = sizeClass(size + 1)) {
      const list = this.#bySize.get(size);
      const allocation = list?.allocations.pop();
      if (list === undefined || allocation === undefined) continue;
      list.lastUse = this.#clock++;
      this.#sizeBytes -= size;
      return allocation;
    }
    return undefined;
  }

  put(allocation: Allocation): void {
    const size = allocation.sizeBytes;
    let list = this.#bySize.get(size);
    if (list === undefined) {
      list = { allocations: [], lastUse: 0 };
      this.#bySize.set(size, list);
    }
    list.allocations.push(allocation);
    list.lastUse = this.#clock++;
    this.#sizeBytes += size;
  }

  /** Takes out memory of the size that has not been used for longest. */
  evict(): Allocation | undefined {
    let stalest: FreeList | undefined;
    for (const list of this.#bySize.values()) {
      if (list.allocations.length === 0) continue;
      if (stalest === undefined || list.lastUse < stalest.lastUse) stalest = list;
    }
    const allocation = stalest?.allocations.pop();
    this.#sizeBytes -= allocation?.sizeBytes ?? 0;
    return allocation;
  }

  clear(): void {
    this.#bySize.clear();
    this.#sizeBytes = 0;
  }
}

/** The next of 4, 5, 6, 7 times a power of two, from 64 up: at most a quarter is wasted. */
export function sizeClass(sizeBytes: number): number {
  if (sizeBytes <= 64) return 64;
  const step = 2 ** Math.max(4, Math.ceil(Math.log2(sizeBytes)) - 3);
  return Math.ceil(sizeBytes / step) * step;
}
