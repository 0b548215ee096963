/**
 * y = x∘w, column by column, and its gradients.
 *
 * x, y [N, D] row-major, w [D]. A thread owns one element, or four where rows are whole vectors.
 * dw = Σₙ dy∘x over chunks of rows (parts/sum-rows.ts).
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { rowSum } from './parts/sum-rows.ts';
import { zeroAll } from './parts/zero.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;

function scaleShader(vec4: '' | ' vec4'): Shader {
  return shader({
    name: 'scale columns',
    arrays: { x: `read stored${vec4}`, w: `read stored${vec4}`, y: `write stored${vec4}` },
    // D in the units of an index: elements or vectors.
    numbers: { count: 'u32', stride: 'u32', D: 'u32' },
    threads: [THREADS, 1, 1],
    body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  put_y(i, get_x(i) * get_w(i % p.D));
}`,
  });
}

const shaders = { elements: scaleShader(''), vectors: scaleShader(' vec4') };

const weightGradient = rowSum({
  name: 'gradient of scaled columns',
  arrays: { dY: 'stored', x: 'stored' },
  value: 'get_dY(at) * get_x(at)',
});

/** y = x∘w, or its gradient dx = dy∘w. */
function scale(call: KernelCall, x: GpuArray, y: GpuArray): readonly Pass[] {
  const { N, D } = call.dims;
  const w = operand(call, 'w');
  const isVector = D % 4 === 0 && [x, w, y].every(({ isAligned }) => isAligned);
  const units = isVector ? D / 4 : D;
  return pieces(N, rowsPerBinding(call, 4 * D, 1)).map(({ start, end }): Pass => {
    const count = (end - start) * units;
    const { workgroups, across } = foldGroups(Math.ceil(count / THREADS), call.limits);
    return {
      shader: isVector ? shaders.vectors : shaders.elements,
      arrays: { x: x.slice(start * D, end * D), w, y: y.slice(start * D, end * D) },
      numbers: { count, stride: across * THREADS, D: units },
      workgroups,
    };
  });
}

function backward(call: KernelCall): readonly Pass[] {
  const { N, D } = call.dims;
  const { dY, dX, dW } = call.arrays;
  if (dY === undefined) return [dX, dW].flatMap((array) => zeroAll(call, array));
  const passes = dX === undefined ? [] : [...scale(call, dY, dX)];
  if (dW !== undefined) {
    const arrays = { dY, x: operand(call, 'x') };
    passes.push(...weightGradient(call, { rows: N, columns: D, arrays, result: dW }));
  }
  return passes;
}

export const scaleColumns: WebGpuKernel = {
  op: 'scaleColumns',
  signature: "x[N,D]' w[D]+ -> y[N,D]'",
  forward: (call) => scale(call, operand(call, 'x'), operand(call, 'y')),
  backward,
};
