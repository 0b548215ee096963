/**
 * y = x·wᵀ + b, and its gradients dx = dy·w, dw = dyᵀ·x, db = Σₘ dy.
 *
 * All row-major, w as [N, K]. A workgroup owns 64 columns of 64 rows, or of 16 or 4 where there are
 * no more, as in decoding (parts/product.ts, parts/tiles.ts). dw sums over the rows in order; where it is small, over chunks of 1024
 * rows that are added up in order, since its few tiles alone would leave most of a GPU idle.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { operand } from './parts/operands.ts';
import { product } from './parts/product.ts';
import { addChunks, rowSum } from './parts/sum-rows.ts';
import { zeroAll } from './parts/zero.ts';

/** Rows of a chunk of dw, and the elements of dw up to which it is made in chunks. */
const CHUNK = 1024;
const SMALL = 1 << 20;

const biasGradient = rowSum({
  name: 'gradient of the bias',
  arrays: { dY: 'stored' },
  value: 'get_dY(at)',
});

function forward(call: KernelCall): readonly Pass[] {
  const { M, N, K } = call.dims;
  return product(call, {
    name: 'gemm',
    rows: M,
    columns: N,
    depth: K,
    left: { array: operand(call, 'x'), isDepthInner: true },
    right: { array: operand(call, 'w'), isDepthInner: true },
    result: operand(call, 'y'),
    resultKind: 'stored',
    bias: call.arrays.b,
  });
}

function backward(call: KernelCall): readonly Pass[] {
  const { M, N, K } = call.dims;
  const { dY, dX, dW, dB } = call.arrays;
  if (dY === undefined) return [dX, dW, dB].flatMap((array) => zeroAll(call, array));
  return [
    ...(dX === undefined
      ? []
      : product(call, {
          name: 'gradient of x',
          rows: M,
          columns: K,
          depth: N,
          left: { array: dY, isDepthInner: true },
          right: { array: operand(call, 'w'), isDepthInner: false },
          result: dX,
          resultKind: 'stored',
        })),
    ...(dW === undefined ? [] : weightGradient(call, dY, dW)),
    ...(dB === undefined
      ? []
      : biasGradient(call, { rows: M, columns: N, arrays: { dY }, result: dB })),
  ];
}

function weightGradient(call: KernelCall, dY: GpuArray, dW: GpuArray): readonly Pass[] {
  const { M, N, K } = call.dims;
  const x = operand(call, 'x');
  const size = N * K;
  const part = (result: GpuArray, from: number, to: number): readonly Pass[] =>
    product(call, {
      name: 'gradient of w',
      rows: N,
      columns: K,
      depth: M,
      left: { array: dY, isDepthInner: false },
      right: { array: x, isDepthInner: false },
      result,
      resultKind: 'f32',
      from,
      to,
    });
  const chunks = size <= SMALL ? Math.ceil(M / CHUNK) : 1;
  if (chunks <= 1) return part(dW, 0, M);
  const partial = call.scratch('f32', chunks * size);
  const products = Array.from({ length: chunks }, (_, i) =>
    part(partial.slice(i * size, (i + 1) * size), i * CHUNK, Math.min(M, (i + 1) * CHUNK)),
  );
  return [...products.flat(), ...addChunks(call, partial, chunks, size, dW)];
}

export const gemm: WebGpuKernel = {
  op: 'gemm',
  signature: "x[M,K]' w[N,K]+~ b[N]+~? -> y[M,N]'",
  forward,
  backward,
};
