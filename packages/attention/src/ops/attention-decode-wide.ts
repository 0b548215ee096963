/** Attention of single new tokens over a KV cache that is stored in fewer bits than they are. */
import { defineOp, WIDE_FLOATS } from '@saccade/ops';
import { attentionDecode } from './attention-decode.ts';

/**
 * `attentionDecode` with float32 queries and results over a cache of any storage: a cache of bf16 is
 * half as large. The CPU keeps queries in float32; where tensor cores multiply what is stored alike,
 * they are rounded to the storage of the cache first.
 *
 * q [N, H, D] and out [N, H, D] float32; the rest as in `attentionDecode`.
 */
export const attentionDecodeWide = defineOp({
  ...attentionDecode,
  id: 'attentionDecodeWide',
  inputs: {
    ...attentionDecode.inputs,
    q: { axes: ['N', 'H', 'D'], dtypes: WIDE_FLOATS },
  },
  outputs: {
    ...attentionDecode.outputs,
    out: { axes: ['N', 'H', 'D'], dtypes: WIDE_FLOATS },
  },
  tolerance: { f32: 1e-5, bf16: 6e-3, f16: 1e-3 },
});
