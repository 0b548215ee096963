/**
 * into[indexₙ] = xₙ, in place: how a KV cache grows. The last row wins where an index repeats.
 *
 * Rows of D elements. A workgroup owns a row of x, and copies it if its index stands nowhere behind
 * it (parts/indexed-rows.ts).
 */

import type { WebGpuKernel } from './kernel.ts';
import { scatter } from './parts/indexed-rows.ts';
import { operand } from './parts/operands.ts';

export const scatterRows: WebGpuKernel = {
  op: 'scatterRows',
  signature: 'into[C,D] x[N,D] index[N]# -> into[C,D]=into',
  forward: (call) => {
    const { C, D, N } = call.dims;
    const list = {
      indices: operand(call, 'index'),
      name: 'index',
      bound: C,
      rows: operand(call, 'x'),
      count: N,
      width: D,
    };
    return scatter(call, list, { array: operand(call, 'into'), count: C, first: 0 });
  },
};
