import { describe, expect, it } from 'vitest';
import { ops, opsCatalog } from './registry.ts';
import { signatureOf } from './signature.ts';

describe('signatureOf', () => {
  it('writes an op as kernels declare it', () => {
    expect(signatureOf(ops.get('gemm'))).toBe("x[M,K]' w[N,K]+~ b[N]+~? -> y[M,N]'");
    expect(signatureOf(ops.get('scatterRows'))).toBe(
      'into[C,D] x[N,D] index[N]# -> into[C,D]=into',
    );
    expect(signatureOf(ops.get('gradNorm'))).toBe('grad[N]! sum[U]! -> total[U]!=sum');
    for (const op of opsCatalog) expect(signatureOf(op)).toContain(' -> ');
  });
});
