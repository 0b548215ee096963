/** Arrays that live on a device. */
import type { Shape } from '@saccade/core';
import type { BufferView } from './backend.ts';

/** An array on the device: a contiguous view and its shape. */
export interface DeviceArray {
  readonly view: BufferView;
  readonly shape: Shape;
}

/** Arrays by the names that an op gives its operands. */
export type DeviceArrays = Readonly<Record<string, DeviceArray | undefined>>;
