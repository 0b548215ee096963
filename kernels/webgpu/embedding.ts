/**
 * yₙ = table[idₙ], or extra[idₙ − V] beyond the table; the backward adds rows up in order of n.
 *
 * Rows of D elements; dTable float32. Forward: a workgroup owns a row of y. Backward: the workgroup
 * of the first n that has an id owns 256 columns of that id's row (parts/indexed-rows.ts).
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { addUp, gather, type IndexedRows } from './parts/indexed-rows.ts';
import { operand } from './parts/operands.ts';
import { zeroAll } from './parts/zero.ts';

/** Without `extra`, E counts for nothing. */
function listOf(call: KernelCall, rows: GpuArray): IndexedRows {
  const { V, E, N, D } = call.dims;
  const bound = V + (call.arrays.extra === undefined ? 0 : E);
  return { indices: operand(call, 'ids'), name: 'ids', bound, rows, count: N, width: D };
}

function forward(call: KernelCall): readonly Pass[] {
  const { V, E } = call.dims;
  const { extra } = call.arrays;
  return gather(call, listOf(call, operand(call, 'y')), [
    { array: operand(call, 'table'), count: V, first: 0 },
    ...(extra === undefined ? [] : [{ array: extra, count: E, first: V }]),
  ]);
}

function backward(call: KernelCall): readonly Pass[] {
  const { V, E } = call.dims;
  const { dY, dTable, dExtra } = call.arrays;
  const zeros = [dTable, dExtra].flatMap((array) => zeroAll(call, array));
  if (dY === undefined) return zeros;
  const list = listOf(call, dY);
  return [
    ...zeros,
    ...(dTable === undefined
      ? []
      : addUp(call, list, { array: dTable, count: V, first: 0 }, 'f32')),
    ...(dExtra === undefined
      ? []
      : addUp(call, list, { array: dExtra, count: E, first: V }, 'stored')),
  ];
}

export const embedding: WebGpuKernel = {
  op: 'embedding',
  signature: "table[V,D]+~ extra[E,D]'? ids[N]# -> y[N,D]'",
  forward,
  backward,
};
