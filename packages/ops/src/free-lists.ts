/** Freed memory that waits for its next use, by size; what nobody asks for goes first. */

/** Memory as a backend names it, by an id or a device's own object. */
export interface Allocation {
  readonly sizeBytes: number;
}

interface FreeList<Memory> {
  readonly allocations: Memory[];
  /** When an allocation last came or went. */
  lastUse: number;
}

export class FreeLists<Memory extends Allocation> {
  readonly #bySize = new Map<number, FreeList<Memory>>();
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
  take(sizeBytes: number): Memory | undefined {
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

  put(allocation: Memory): void {
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
  evict(): Memory | undefined {
    let stalest: FreeList<Memory> | undefined;
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
