/**
 * into[indexₙ] = xₙ, in place, rounded to the storage of `into`: how a KV cache of 16 bits grows. The
 * last row wins where an index repeats.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { convertPasses } from './parts/convert.ts';
import { operand } from './parts/operands.ts';
import { scatterRows } from './scatter-rows.ts';

function forward(call: KernelCall): readonly Pass[] {
  if (call.storage === 'f32') return scatterRows.forward(call);
  const wide = operand(call, 'x');
  const narrow = call.scratch(call.storage, wide.length);
  const arrays = { ...call.arrays, x: narrow };
  return [
    ...convertPasses(call, 'narrow', { wide, narrow }),
    ...scatterRows.forward({ ...call, arrays }),
  ];
}

export const cacheRows: WebGpuKernel = {
  op: 'cacheRows',
  signature: 'into[C,D] x[N,D]! index[N]# -> into[C,D]=into',
  forward,
};
