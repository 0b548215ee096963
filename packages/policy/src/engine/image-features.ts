/** Features of images that were seen before, by content, so that the vision tower runs once on each. */
import { bytesOf } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { gatherRows, scatterRows, scope, type Tensor, tensor, zeros } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import { featuresOf, type LanguageModel } from '../models/language-model.ts';
import { imageKey } from './image-key.ts';

export class ImageFeatures {
  readonly #device: Device;
  readonly #model: LanguageModel;
  readonly #mostBytes: number;
  /** Levels of [tokens, hidden] by content, the image unused for longest first. */
  readonly #kept = new Map<string, readonly Tensor[]>();
  #computed = 0;

  constructor(device: Device, model: LanguageModel, mostBytes: number) {
    this.#device = device;
    this.#model = model;
    this.#mostBytes = mostBytes;
  }

  /** Images that the vision tower has computed, for tests. */
  get computed(): number {
    return this.#computed;
  }

  /**
   * The features of images in their order, [E, hidden] by level; empty for none. The caller disposes
   * of them.
   */
  of(parameters: Parameters, images: readonly ModelImage[]): readonly Tensor[] {
    if (images.length === 0) return [];
    const compute = (some: readonly ModelImage[]) =>
      scope(() => featuresOf(this.#model, this.#device, parameters, some));
    const keys = images.map(imageKey);
    const unknown = images.filter((_, i) => {
      const key = keys[i] as string;
      return !this.#kept.has(key) && keys.indexOf(key) === i;
    });
    this.#computed += unknown.length;
    if (this.#mostBytes === 0) return compute(images);
    const fresh = unknown.length > 0 ? compute(unknown) : undefined;
    if (fresh !== undefined) this.#keep(unknown, fresh);
    for (const key of keys) this.#touch(key);
    // As they come, where all are new.
    const isAll = unknown.length === images.length;
    const result = isAll && fresh !== undefined ? fresh : this.#joined(images);
    if (!isAll) disposeAll(fresh ?? []);
    this.#trim();
    return result;
  }

  /** Forgets all: the weights changed. */
  clear(): void {
    for (const levels of this.#kept.values()) disposeAll(levels);
    this.#kept.clear();
  }

  /** Copies the rows of each image. */
  #keep(images: readonly ModelImage[], features: readonly Tensor[]): void {
    let first = 0;
    for (const image of images) {
      const rows = Int32Array.from({ length: image.tokenCount }, (_, i) => first + i);
      first += rows.length;
      const own = scope(() => {
        const index = tensor(this.#device, 'i32', [rows.length], rows);
        return features.map((level) => gatherRows(level, index));
      });
      this.#kept.set(imageKey(image), own);
    }
  }

  /** Makes an image the latest one used. */
  #touch(key: string): void {
    const one = this.#kept.get(key) as readonly Tensor[];
    this.#kept.delete(key);
    this.#kept.set(key, one);
  }

  #trim(): void {
    let bytes = 0;
    for (const levels of this.#kept.values()) bytes += bytesOfAll(levels);
    for (const [key, levels] of this.#kept) {
      if (bytes <= this.#mostBytes) return;
      bytes -= bytesOfAll(levels);
      this.#kept.delete(key);
      disposeAll(levels);
    }
  }

  #joined(images: readonly ModelImage[]): readonly Tensor[] {
    const count = images.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    const kept = images.map((image) => this.#kept.get(imageKey(image)) as readonly Tensor[]);
    return scope(() => {
      const joined = (kept[0] ?? []).map(({ dtype }) =>
        zeros(this.#device, dtype, [count, this.#model.hidden]),
      );
      let first = 0;
      for (const [i, { tokenCount }] of images.entries()) {
        const rows = Int32Array.from({ length: tokenCount }, (_, row) => first + row);
        first += rows.length;
        const index = tensor(this.#device, 'i32', [rows.length], rows);
        for (const [level, into] of joined.entries()) {
          scatterRows(into, kept[i]?.[level] as Tensor, index);
        }
      }
      return joined;
    });
  }
}

function disposeAll(levels: readonly Tensor[]): void {
  for (const level of levels) level.dispose();
}

function bytesOfAll(levels: readonly Tensor[]): number {
  return levels.reduce((sum, { size, dtype }) => sum + size * bytesOf(dtype), 0);
}
