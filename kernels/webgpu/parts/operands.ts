/** The arrays of a launch that every launch has. */
import type { GpuArray, KernelCall } from '../kernel.ts';

/** @throws RangeError if the launch lacks it */
export function operand(call: KernelCall, name: string): GpuArray {
  const array = call.arrays[name];
  if (array === undefined) throw new RangeError(`the launch has no ${name}.`);
  return array;
}
