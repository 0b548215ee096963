/** Arrays filled with zeros: the gradients of an output that has none. */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { zeroRows } from './rows.ts';

/** Elements that a workgroup of `zeroRows` fills. */
const RUN = 1024;

export function zeroAll({ limits }: KernelCall, array: GpuArray | undefined): readonly Pass[] {
  if (array === undefined || array.length === 0) return [];
  const rows = Math.floor(array.length / RUN);
  const step = Math.floor(limits.bindingBytes / 4 / RUN);
  const rest = array.length - rows * RUN;
  return [
    ...zeroRows(array.slice(0, rows * RUN), rows, RUN, step),
    ...(rest === 0 ? [] : zeroRows(array.slice(rows * RUN, array.length), 1, rest, 1)),
  ];
}
