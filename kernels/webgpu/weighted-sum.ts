/**
 * yₙ = Σₖ wₙₖ·xₙₖ and its gradients.
 *
 * x [N, K, D], y [N, D] row-major, w and dw [N, K] in float32. A thread owns an element of y, or of dx,
 * or four where rows are whole vectors; a workgroup owns a weight's gradient, whose sum over D is a tree.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { workgroupSum } from './parts/workgroup-sum.ts';
import { zeroAll } from './parts/zero.ts';
import { type ArrayUse, type Shader, shader } from './shader.ts';

const THREADS = 128;
/** Threads that share the gradient of a weight. */
const OWNERS = 64;

// D in the units of an index: elements or vectors.
const numbers = { count: 'u32', stride: 'u32', K: 'u32', D: 'u32' } as const;

type Width = '' | ' vec4';

/** A thread owns index `i` of an array whose rows are D units. */
function elementShader(
  name: string,
  arrays: Readonly<Record<string, ArrayUse>>,
  statements: string,
): Shader {
  return shader({
    name,
    arrays,
    numbers,
    threads: [THREADS, 1, 1],
    body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  let row = i / p.D;
  let d = i % p.D;
  ${statements}
}`,
  });
}

const forwardShader = (width: Width): Shader =>
  elementShader(
    'weighted sum',
    { x: `read stored${width}`, w: 'read f32', y: `write stored${width}` },
    `var sum = get_x(row * p.K * p.D + d) * get_w(row * p.K);
  for (var k = row * p.K + 1u; k < (row + 1u) * p.K; k++) { sum += get_x(k * p.D + d) * get_w(k); }
  put_y(i, sum);`,
  );

const rowGradientShader = (width: Width): Shader =>
  elementShader(
    'gradient of weighted rows',
    { dY: `read stored${width}`, w: 'read f32', dX: `write stored${width}` },
    'put_dX(i, get_dY((row / p.K) * p.D + d) * get_w(row));',
  );

const weightGradientShader: Shader = shader({
  name: 'gradient of weights',
  arrays: { dY: 'read stored', x: 'read stored', dW: 'write f32' },
  numbers: { rows: 'u32', across: 'u32', K: 'u32', D: 'u32' },
  threads: [OWNERS, 1, 1],
  body: `${workgroupSum(OWNERS)}
fn main(at: Place, group: vec3<u32>) {
  let row = group.y * p.across + group.x;
  if (row >= p.rows) { return; }
  var sum = 0.0;
  for (var d = at.index; d < p.D; d += ${OWNERS}u) {
    sum = fma(get_dY((row / p.K) * p.D + d), get_x(row * p.D + d), sum);
  }
  let total = workgroup_sum(sum, at.index);
  if (at.index == 0u) { put_dW(row, total); }
}`,
});

const shaders = {
  forward: { elements: forwardShader(''), vectors: forwardShader(' vec4') },
  rows: { elements: rowGradientShader(''), vectors: rowGradientShader(' vec4') },
};

/** One pass for each slice of the rows n that can be bound; `widths` are elements of an n. */
function overRows(
  call: KernelCall,
  made: (isVector: boolean) => Shader,
  arrays: Readonly<Record<string, readonly [array: GpuArray, width: number]>>,
  ownRows: number,
): readonly Pass[] {
  const { N, K, D } = call.dims;
  const matrices = Object.entries(arrays).filter(([name]) => name !== 'w');
  const isVector = D % 4 === 0 && matrices.every(([, [array]]) => array.isAligned);
  const units = isVector ? D / 4 : D;
  return pieces(N, rowsPerBinding(call, 4 * K * D, 1)).map(({ start, end }): Pass => {
    const count = (end - start) * ownRows * units;
    const { workgroups, across } = foldGroups(Math.ceil(count / THREADS), call.limits);
    return {
      shader: made(isVector),
      arrays: sliced(arrays, start, end),
      numbers: { count, stride: across * THREADS, K, D: units },
      workgroups,
    };
  });
}

function sliced(
  arrays: Readonly<Record<string, readonly [array: GpuArray, width: number]>>,
  start: number,
  end: number,
): Readonly<Record<string, GpuArray>> {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, [array, width]]) => [
      name,
      array.slice(start * width, end * width),
    ]),
  );
}

function forward(call: KernelCall): readonly Pass[] {
  const { K, D } = call.dims;
  const arrays = {
    x: [operand(call, 'x'), K * D],
    w: [operand(call, 'w'), K],
    y: [operand(call, 'y'), D],
  } as const;
  const { vectors, elements } = shaders.forward;
  return overRows(call, (isVector) => (isVector ? vectors : elements), arrays, 1);
}

function backward(call: KernelCall): readonly Pass[] {
  const { N, K, D } = call.dims;
  const { dY, dX, dW } = call.arrays;
  if (dY === undefined) return [dX, dW].flatMap((array) => zeroAll(call, array));
  const passes: Pass[] = [];
  if (dX !== undefined) {
    const arrays = { dY: [dY, D], w: [operand(call, 'w'), K], dX: [dX, K * D] } as const;
    const { vectors, elements } = shaders.rows;
    passes.push(...overRows(call, (isVector) => (isVector ? vectors : elements), arrays, K));
  }
  if (dW !== undefined) {
    const arrays = { dY: [dY, D], x: [operand(call, 'x'), K * D], dW: [dW, K] } as const;
    for (const { start, end } of pieces(N, rowsPerBinding(call, 4 * K * D, 1))) {
      const rows = (end - start) * K;
      const { workgroups, across } = foldGroups(rows, call.limits);
      passes.push({
        shader: weightGradientShader,
        arrays: sliced(arrays, start, end),
        numbers: { rows, across, K, D },
        workgroups,
      });
    }
  }
  return passes;
}

export const weightedSum: WebGpuKernel = {
  op: 'weightedSum',
  signature: "x[N,K,D]' w[N,K]'! -> y[N,D]'",
  forward,
  backward,
};
