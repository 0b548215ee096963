/**
 * yᵣ = x[indexᵣ]; the backward adds rows up in order of r.
 *
 * Rows of D elements. Forward: a workgroup owns a row of y. Backward: the workgroup of the first r
 * that has an index owns 256 columns of that row (parts/indexed-rows.ts).
 */

import type { GpuArray, KernelCall, WebGpuKernel } from './kernel.ts';
import { addUp, gather, type IndexedRows } from './parts/indexed-rows.ts';
import { operand } from './parts/operands.ts';
import { zeroAll } from './parts/zero.ts';

function listOf(call: KernelCall, rows: GpuArray): IndexedRows {
  const { N, D, R } = call.dims;
  return { indices: operand(call, 'index'), name: 'index', bound: N, rows, count: R, width: D };
}

export const gatherRows: WebGpuKernel = {
  op: 'gatherRows',
  signature: "x[N,D]' index[R]# -> y[R,D]'",
  forward: (call) => {
    const set = { array: operand(call, 'x'), count: call.dims.N, first: 0 };
    return gather(call, listOf(call, operand(call, 'y')), [set]);
  },
  backward: (call) => {
    const { dY, dX } = call.arrays;
    if (dX === undefined) return [];
    const zeros = zeroAll(call, dX);
    if (dY === undefined) return zeros;
    const set = { array: dX, count: call.dims.N, first: 0 };
    return [...zeros, ...addUp(call, listOf(call, dY), set, 'stored')];
  },
};
