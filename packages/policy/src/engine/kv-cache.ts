/** Paged key/value cache: per layer two arrays of slots, handed out in pages. */
import { StateError } from '@saccade/core';
import { axpby, type Device } from '@saccade/ops';
import { adopt, apply, gatherRows, scatterRows, scope, type Tensor, tensor } from '@saccade/tensor';

/** Slots per page: a conversation wastes at most one page less one slot. */
const PAGE = 64;

export interface LayerCache {
  /** [C, G, D] slots. */
  readonly k: Tensor;
  readonly v: Tensor;
}

/** Slots of one stretch of tokens, in order; grows at its end. */
export class SlotList {
  readonly pages: number[] = [];
  length = 0;

  /** The slot of token `index`. */
  slot(index: number): number {
    const page = this.pages[Math.floor(index / PAGE)];
    if (page === undefined) throw new StateError(`Token ${index} has no slot in the cache.`);
    return page * PAGE + (index % PAGE);
  }

  /** Appends [start, end) slot ranges of the first `length` tokens, adjacent pages joined. */
  spans(length: number, out: number[]): void {
    for (let first = 0; first < length; first += PAGE) {
      const start = this.slot(first);
      const end = start + Math.min(PAGE, length - first);
      if (first > 0 && out.at(-1) === start) out[out.length - 1] = end;
      else out.push(start, end);
    }
  }
}

export class KvCache {
  readonly #device: Device;
  readonly #layers: number;
  readonly #kvHeads: number;
  readonly #headDim: number;
  #layerCaches: LayerCache[] = [];
  #free: number[] = [];
  #pageCount = 0;

  constructor(device: Device, layers: number, kvHeads: number, headDim: number) {
    this.#device = device;
    this.#layers = layers;
    this.#kvHeads = kvHeads;
    this.#headDim = headDim;
  }

  /** Slots in use. */
  get usedSlots(): number {
    return (this.#pageCount - this.#free.length) * PAGE;
  }

  layer(index: number): LayerCache {
    return this.#layerCaches[index] as LayerCache;
  }

  /** Makes room for `count` more tokens at the end of a list. */
  extend(list: SlotList, count: number): void {
    const needed = Math.ceil((list.length + count) / PAGE) - list.pages.length;
    if (needed > this.#free.length) this.#grow(needed - this.#free.length);
    for (let i = 0; i < needed; i++) list.pages.push(this.#free.pop() as number);
    list.length += count;
  }

  /** Takes a list's pages back. */
  release(list: SlotList): void {
    this.#free.push(...list.pages);
    list.pages.length = 0;
    list.length = 0;
  }

  dispose(): void {
    for (const { k, v } of this.#layerCaches) {
      k.dispose();
      v.dispose();
    }
    this.#layerCaches = [];
    this.#free = [];
    this.#pageCount = 0;
  }

  /** At least doubles the cache; what is in it moves along. */
  #grow(morePages: number): void {
    const pages = Math.max(this.#pageCount * 2, this.#pageCount + morePages, 64);
    const shape = [pages * PAGE, this.#kvHeads, this.#headDim];
    const width = this.#kvHeads * this.#headDim;
    const old = this.#layerCaches;
    const moved = this.#pageCount * PAGE;
    const move = (from: Tensor | undefined): Tensor => {
      const to = zerosOn(this.#device, shape);
      if (from !== undefined) {
        scope(() => {
          const rows = Int32Array.from({ length: moved }, (_, i) => i);
          const index = tensor(this.#device, 'i32', [moved], rows);
          const contents = gatherRows(from.reshape([moved, width]), index);
          scatterRows(to.reshape([-1, width]), contents, index);
        });
        from.dispose();
      }
      return to;
    };
    this.#layerCaches = Array.from({ length: this.#layers }, (_, layer) => ({
      k: move(old[layer]?.k),
      v: move(old[layer]?.v),
    }));
    for (let page = pages - 1; page >= this.#pageCount; page--) this.#free.push(page);
    this.#pageCount = pages;
  }
}

/** Zeros made on the device: the host would need as much memory to send them. */
function zerosOn(device: Device, shape: readonly number[]): Tensor {
  const made = adopt(device, device.alloc('f32', shape));
  apply(axpby, { y: made.reshape([made.size]) }, { b: 0 });
  return made;
}
