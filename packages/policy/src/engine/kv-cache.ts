/** Paged key/value cache: per layer two arrays of slots, handed out in pages that may be shared. */
import { bytesOf, ConfigError, type DType, StateError } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { gatherRows, scatterRows, scope, type Tensor, tensor, zeros } from '@saccade/tensor';
import { activationDtype } from '../models/activation-dtype.ts';
import type { EngineSettings } from './engine-settings.ts';
import { PageIndex } from './page-index.ts';

/** Slots per page: a conversation wastes at most one page less one slot. */
export const PAGE = 64;

export interface LayerCache {
  /** [C, G, D] slots. */
  readonly k: Tensor;
  readonly v: Tensor;
}

/**
 * The element type of keys and values in a cache.
 *
 * @throws ConfigError  if it is wider than that of activations
 */
export function cacheDtype({ kvCache }: EngineSettings, parameters: Parameters): DType {
  const activations = activationDtype(parameters);
  const dtype = kvCache === 'own' ? activations : kvCache;
  if (dtype === activations || bytesOf(activations) > bytesOf(dtype)) return dtype;
  throw new ConfigError(
    'policy.kvCache',
    `policy.kvCache is "${kvCache}", but activations are ${activations}. Set it to "own".`,
  );
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

  /** Pages that `count` more tokens need. */
  pagesFor(count: number): number {
    return Math.ceil((this.length + count) / PAGE) - this.pages.length;
  }
}

/** The sizes and the storage of a cache. */
export interface KvCacheShape {
  readonly dtype: DType;
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Most pages at once. */
  readonly pages: number;
}

export class KvCache {
  /** The full pages whose contents are known. */
  readonly index: PageIndex = new PageIndex();
  readonly #device: Device;
  readonly #shape: KvCacheShape;
  #layerCaches: LayerCache[] = [];
  #free: number[] = [];
  /** Lists that have each page, beyond the first. */
  readonly #shares = new Map<number, number>();
  #pageCount = 0;

  constructor(device: Device, shape: KvCacheShape) {
    this.#device = device;
    this.#shape = shape;
  }

  /** Slots in use. */
  get usedSlots(): number {
    return (this.#pageCount - this.#free.length) * PAGE;
  }

  /** Pages that can still be handed out. */
  get freePages(): number {
    return this.#shape.pages - this.#pageCount + this.#free.length;
  }

  /** Most pages at once. */
  get mostPages(): number {
    return this.#shape.pages;
  }

  get dtype(): DType {
    return this.#shape.dtype;
  }

  layer(index: number): LayerCache {
    return this.#layerCaches[index] as LayerCache;
  }

  /** Makes room for `count` more tokens at the end of a list. @throws StateError if there is none */
  extend(list: SlotList, count: number): void {
    const needed = list.pagesFor(count);
    if (needed > this.freePages) throw new StateError('The key/value cache is full.');
    if (needed > this.#free.length) this.#grow(needed - this.#free.length);
    for (let i = 0; i < needed; i++) list.pages.push(this.#free.pop() as number);
    list.length += count;
  }

  /** Begins an empty list with full pages of others. */
  share(list: SlotList, pages: readonly number[]): void {
    for (const page of pages) this.#shares.set(page, (this.#shares.get(page) ?? 0) + 1);
    list.pages.push(...pages);
    list.length += pages.length * PAGE;
  }

  /** Takes a list's pages back; those that others have stay with them. */
  release(list: SlotList): void {
    for (const page of list.pages) {
      const shares = this.#shares.get(page) ?? 0;
      if (shares === 0) {
        this.index.forget(page);
        this.#free.push(page);
      } else if (shares === 1) this.#shares.delete(page);
      else this.#shares.set(page, shares - 1);
    }
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
    this.#shares.clear();
    this.index.clear();
    this.#pageCount = 0;
  }

  /** At least doubles the cache, as far as its limit lets it; what is in it moves along. */
  #grow(morePages: number): void {
    const { dtype, layers, kvHeads, headDim, pages: most } = this.#shape;
    const pages = Math.min(most, Math.max(this.#pageCount * 2, this.#pageCount + morePages, 64));
    const shape = [pages * PAGE, kvHeads, headDim];
    const width = kvHeads * headDim;
    const old = this.#layerCaches;
    const moved = this.#pageCount * PAGE;
    const move = (from: Tensor | undefined): Tensor => {
      const to = zeros(this.#device, dtype, shape);
      if (from !== undefined) {
        scope(() => {
          const rows = new Int32Array(moved);
          for (let i = 0; i < moved; i++) rows[i] = i;
          const index = tensor(this.#device, 'i32', [moved], rows);
          const contents = gatherRows(from.reshape([moved, width]), index);
          scatterRows(to.reshape([-1, width]), contents, index);
        });
        from.dispose();
      }
      return to;
    };
    this.#layerCaches = Array.from({ length: layers }, (_, layer) => ({
      k: move(old[layer]?.k),
      v: move(old[layer]?.v),
    }));
    for (let page = pages - 1; page >= this.#pageCount; page--) this.#free.push(page);
    this.#pageCount = pages;
  }
}
