/** Features of images that were seen before, by content, so that the vision tower runs once on each. */
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { gatherRows, scatterRows, scope, type Tensor, tensor, zeros } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import type { ModelConfig } from '../models/config.ts';
import { visualFeatures } from '../models/vision-tower.ts';
import { imageKey } from './image-key.ts';

export class ImageFeatures {
  readonly #device: Device;
  readonly #config: ModelConfig;
  readonly #mostBytes: number;
  /** [tokens, hidden] by content, the one unused for longest first. */
  readonly #kept = new Map<string, Tensor>();
  #computed = 0;

  constructor(device: Device, config: ModelConfig, mostBytes: number) {
    this.#device = device;
    this.#config = config;
    this.#mostBytes = mostBytes;
  }

  /** Images that the vision tower has computed, for tests. */
  get computed(): number {
    return this.#computed;
  }

  /**
   * The features of images in their order, [E, hidden]; undefined for none. The caller disposes of
   * them.
   */
  of(parameters: Parameters, images: readonly ModelImage[]): Tensor | undefined {
    if (images.length === 0) return undefined;
    const compute = (some: readonly ModelImage[]) =>
      scope(() => visualFeatures(this.#device, parameters, this.#config, some));
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
    if (!isAll) fresh?.dispose();
    this.#trim();
    return result;
  }

  /** Forgets all: the weights changed. */
  clear(): void {
    for (const one of this.#kept.values()) one.dispose();
    this.#kept.clear();
  }

  /** Copies the rows of each image. */
  #keep(images: readonly ModelImage[], features: Tensor): void {
    let first = 0;
    for (const image of images) {
      const rows = Int32Array.from({ length: image.tokenCount }, (_, i) => first + i);
      first += rows.length;
      const own = scope(() =>
        gatherRows(features, tensor(this.#device, 'i32', [rows.length], rows)),
      );
      this.#kept.set(imageKey(image), own);
    }
  }

  /** Makes an image the latest one used. */
  #touch(key: string): void {
    const one = this.#kept.get(key) as Tensor;
    this.#kept.delete(key);
    this.#kept.set(key, one);
  }

  #trim(): void {
    let bytes = 0;
    for (const { size } of this.#kept.values()) bytes += 4 * size;
    for (const [key, one] of this.#kept) {
      if (bytes <= this.#mostBytes) return;
      bytes -= 4 * one.size;
      this.#kept.delete(key);
      one.dispose();
    }
  }

  #joined(images: readonly ModelImage[]): Tensor {
    const count = images.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    return scope(() => {
      const joined = zeros(this.#device, 'f32', [count, this.#config.hidden]);
      let first = 0;
      for (const image of images) {
        const rows = Int32Array.from({ length: image.tokenCount }, (_, i) => first + i);
        first += rows.length;
        const own = this.#kept.get(imageKey(image)) as Tensor;
        scatterRows(joined, own, tensor(this.#device, 'i32', [rows.length], rows));
      }
      return joined;
    });
  }
}
