/**
 * Attention of one new token per row over a key/value cache of any storage, with float32 queries and
 * results: those of the cache's storage between two roundings.
 */

import { attentionDecode } from './attention-decode.ts';
import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { convertPasses } from './parts/convert.ts';
import { operand } from './parts/operands.ts';

function forward(call: KernelCall): readonly Pass[] {
  if (call.storage === 'f32') return attentionDecode.forward(call);
  const [q, out] = [operand(call, 'q'), operand(call, 'out')];
  const narrowQ = call.scratch(call.storage, q.length);
  const narrowOut = call.scratch(call.storage, out.length);
  const arrays = { ...call.arrays, q: narrowQ, out: narrowOut };
  return [
    ...convertPasses(call, 'narrow', { wide: q, narrow: narrowQ }),
    ...attentionDecode.forward({ ...call, arrays }),
    ...convertPasses(call, 'widen', { wide: out, narrow: narrowOut }),
  ];
}

export const attentionDecodeWide: WebGpuKernel = {
  op: 'attentionDecodeWide',
  signature:
    'q[N,H,D]! kCache[C,G,D] vCache[C,G,D] spans[R,U2]# spanOffsets[O]# -> ' +
    'out[N,H,D]! lse[H,N]! ; scale window',
  forward,
};
