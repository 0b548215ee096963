/** Freed memory that waits for its next use, by size; what nobody asks for goes first. */
import type { Allocation } from '@saccade/native';

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

  /** Memory of exactly this size, if some waits. */
  take(sizeBytes: number): Allocation | undefined {
    const list = this.#bySize.get(sizeBytes);
    const allocation = list?.allocations.pop();
    if (list === undefined || allocation === undefined) return undefined;
    list.lastUse = this.#clock++;
    this.#sizeBytes -= sizeBytes;
    return allocation;
  }

  put(allocation: Allocation): void {
    const size = allocation.bytes.byteLength;
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
    this.#sizeBytes -= allocation?.bytes.byteLength ?? 0;
    return allocation;
  }

  clear(): void {
    this.#bySize.clear();
    this.#sizeBytes = 0;
  }
}
