/** Sums gradients by storage: those of whole tensors and of slices, in the order of arrival. */
import { bytesOf, type DType } from '@saccade/core';
import { add, type Device, type DeviceArray, gatherRows, scatterRows } from '@saccade/ops';
import { adopt } from './scope.ts';
import type { Storage, Tensor } from './tensor.ts';

interface Held {
  /** Covers the whole storage. */
  readonly array: DeviceArray;
  /** False for memory that its owner frees. */
  readonly isOwned: boolean;
}

export class GradientSum {
  readonly #device: Device;
  readonly #held = new Map<Storage, Held>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** Adds a gradient of `target`. The memory of an owned one passes to the sum. */
  give(target: Tensor, gradient: DeviceArray, isOwned: boolean): void {
    if (!target.isWhole) {
      this.#giveSlice(target, gradient, isOwned);
      return;
    }
    const before = this.#held.get(target.storage);
    if (before === undefined) {
      this.#held.set(target.storage, { array: gradient, isOwned });
      return;
    }
    const array = this.#added(before.array, gradient);
    this.#free(before);
    this.#free({ array: gradient, isOwned });
    this.#held.set(target.storage, { array, isOwned: true });
  }

  /** The sum so far for a tensor that covers its storage, in that tensor's shape. */
  of(target: Tensor): DeviceArray | undefined {
    const held = this.#held.get(target.storage);
    return held && { view: held.array.view, shape: target.shape };
  }

  /** Makes the sum so far that of another storage of the same size. */
  move(from: Storage, to: Storage): void {
    const held = this.#held.get(from);
    if (held === undefined) return;
    this.#held.delete(from);
    this.#held.set(to, held);
  }

  /** Frees the sum of a storage. */
  drop(storage: Storage): void {
    const held = this.#held.get(storage);
    if (held !== undefined) this.#free(held);
    this.#held.delete(storage);
  }

  /** Returns a gradient as a separate tensor. */
  take(target: Tensor): Tensor | undefined {
    const held = this.#held.get(target.storage);
    if (held === undefined) return undefined;
    this.#held.delete(target.storage);
    const { view } = held.isOwned ? held.array : this.#copied(held.array);
    return adopt(this.#device, { view, shape: target.shape });
  }

  /** Frees every sum that was not taken. */
  dispose(): void {
    for (const held of this.#held.values()) this.#free(held);
    this.#held.clear();
  }

  /** The part of the sum under the slice becomes part + gradient; the rest stays, zero at first. */
  #giveSlice(target: Tensor, gradient: DeviceArray, isOwned: boolean): void {
    const before = this.#held.get(target.storage);
    let whole: DeviceArray;
    if (before === undefined) whole = this.#zeros(target.storage.array, gradient.view.dtype);
    else whole = before.isOwned ? before.array : this.#copied(before.array);
    this.#held.set(target.storage, { array: whole, isOwned: true });
    const { buffer, dtype, offsetBytes } = whole.view;
    const shift = target.offset * bytesOf(dtype);
    const part: DeviceArray = {
      view: { buffer, dtype, offsetBytes: offsetBytes + shift, length: target.size },
      shape: [1, target.size],
    };
    const sum = before === undefined ? gradient : this.#added(part, gradient);
    const index = this.#device.upload('i32', [1], [0]);
    this.#device.forward(scatterRows, { into: part, x: row(sum), index });
    this.#device.free(index);
    if (before !== undefined) this.#device.free(sum);
    this.#free({ array: gradient, isOwned });
  }

  #added(a: DeviceArray, b: DeviceArray): DeviceArray {
    return this.#device.forward(add, { a: row(a), b: row(b) }).y;
  }

  #copied(array: DeviceArray): DeviceArray {
    const index = this.#device.upload('i32', [1], [0]);
    const { y } = this.#device.forward(gatherRows, { x: row(array), index });
    this.#device.free(index);
    return y;
  }

  #zeros(like: DeviceArray, dtype: DType): DeviceArray {
    return this.#device.zeros(dtype, like.shape);
  }

  #free({ array, isOwned }: Held): void {
    if (isOwned) this.#device.free(array);
  }
}

/** All elements as one row. */
function row({ view }: DeviceArray): DeviceArray {
  return { view, shape: [1, view.length] };
}
