/**
 * into[indexₙ] = xₙ, in place: how a KV cache grows. The last row wins where an index repeats.
 *
 * Rows of D elements. A workgroup owns a row of x, and copies it if its index stands nowhere behind
 * it (common/indexed-rows.ts).
 */
import { scatter } from './common/indexed-rows.ts';
import { operand } from './common/operands.ts';
import type { WebGpuKernel } from './kernel.ts';

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
