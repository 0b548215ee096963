/** Freed memory kept for reuse, by size; the least recently used size is evicted first. */

/** Memory as a backend refers to it: its size, beside an id or an object of the device. */
export interface Allocation {
  readonly sizeBytes: number;
}

interface FreeList<Memory> {
  readonly allocations: Memory[];
  /** When an allocation last came or went. */
  lastUse: number;
}

/**
 * Keeps freed allocations for reuse, in one list per size. Sizes are those of `sizeClass`; evicts
 * from the size that has gone unused longest. It never frees memory itself: `evict` returns what to
 * free.
 */
export class FreeLists<Memory extends Allocation> {
  readonly #bySize = new Map<number, FreeList<Memory>>();
  #sizeBytes = 0;
  #clock = 0;

  /** Bytes of all kept allocations. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Takes out the smallest kept allocation of at least this size, at most about half of it unused,
   * or undefined. Batches differ in length, so exactly the same size is rarely requested again.
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

  /** Keeps an allocation whose size is one of `sizeClass`. */
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

  /**
   * Takes out an allocation of the size that has gone unused longest; undefined if none is kept.
   */
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

  /** Forgets all allocations without freeing them. */
  clear(): void {
    this.#bySize.clear();
    this.#sizeBytes = 0;
  }
}

/**
 * Rounds a size up to the next of 4, 5, 6 or 7 times a power of two, at least 64 bytes, so at most
 * a quarter is wasted.
 */
export function sizeClass(sizeBytes: number): number {
  if (sizeBytes <= 64) return 64;
  const step = 2 ** Math.max(4, Math.ceil(Math.log2(sizeBytes)) - 3);
  return Math.ceil(sizeBytes / step) * step;
}
