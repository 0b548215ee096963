/**
 * yₜ = Σₖ weightsₜₖ·xₜₖ, dx = weights·dy, dWeights = ⟨dy, x⟩.
 *
 * x [T, K, D], weights [T, K], y [T, D], row-major. y and dx: a thread owns an element, a sum runs
 * over k in order. dWeights: a workgroup of 64 threads owns a row of x, and the threads' sums are
 * added as a tree.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { pieces, rowsPerBinding } from './parts/slices.ts';
import { workgroupSum } from './parts/workgroup-sum.ts';
import { zeroAll } from './parts/zero.ts';
import { shader } from './shader.ts';

const THREADS = 64;

const numbers = { T: 'u32', K: 'u32', D: 'u32', across: 'u32' } as const;

const sumShader = shader({
  name: 'weighted sum',
  arrays: { x: 'read stored', weights: 'read f32', y: 'write stored' },
  numbers,
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = (at.group.y * p.across + at.group.x) * ${THREADS}u + at.index;
  if (i >= p.T * p.D) { return; }
  let t = i / p.D;
  let d = i % p.D;
  var sum = 0.0;
  for (var k = t * p.K; k < (t + 1u) * p.K; k++) {
    sum = fma(get_weights(k), get_x(k * p.D + d), sum);
  }
  put_y(i, sum);
}`,
});

const scaleShader = shader({
  name: 'weighted sum, gradient of x',
  arrays: { dY: 'read stored', weights: 'read f32', dX: 'write stored' },
  numbers,
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let i = (at.group.y * p.across + at.group.x) * ${THREADS}u + at.index;
  if (i >= p.T * p.K * p.D) { return; }
  let row = i / p.D;
  put_dX(i, get_weights(row) * get_dY(row / p.K * p.D + i % p.D));
}`,
});

const dotShader = shader({
  name: 'weighted sum, gradient of the weights',
  arrays: { dY: 'read stored', x: 'read stored', dWeights: 'write f32' },
  numbers,
  threads: [THREADS, 1, 1],
  body: `${workgroupSum(THREADS)}
fn main(at: Place, group: vec3<u32>) {
  let row = group.y * p.across + group.x;
  if (row >= p.T * p.K) { return; }
  var dot = 0.0;
  for (var d = at.index; d < p.D; d += ${THREADS}u) {
    dot = fma(get_dY(row / p.K * p.D + d), get_x(row * p.D + d), dot);
  }
  let sum = workgroup_sum(dot, at.index);
  if (at.index == 0u) { put_dWeights(row, sum); }
}`,
});

/** One pass for each slice of tokens that can be bound; arrays by name with a token's width. */
function overTokens(
  call: KernelCall,
  made: Pass['shader'],
  arrays: Readonly<Record<string, readonly [array: GpuArray, width: number]>>,
  groupsOf: (tokens: number) => number,
): readonly Pass[] {
  const { T, K, D } = call.dims;
  return pieces(T, rowsPerBinding(call, 4 * Math.max(1, K) * D, 1)).map(({ start, end }) => {
    const { workgroups, across } = foldGroups(groupsOf(end - start), call.limits);
    return {
      shader: made,
      arrays: Object.fromEntries(
        Object.entries(arrays).map(([name, [array, width]]) => [
          name,
          array.slice(start * width, end * width),
        ]),
      ),
      numbers: { T: end - start, K, D, across },
      workgroups,
    };
  });
}

function forward(call: KernelCall): readonly Pass[] {
  const { K, D } = call.dims;
  const y = operand(call, 'y');
  if (K === 0) return zeroAll(call, y);
  const arrays = {
    x: [operand(call, 'x'), K * D],
    weights: [operand(call, 'weights'), K],
    y: [y, D],
  } as const;
  return overTokens(call, sumShader, arrays, (tokens) => Math.ceil((tokens * D) / THREADS));
}

function backward(call: KernelCall): readonly Pass[] {
  const { K, D } = call.dims;
  const { dY, dX, dWeights } = call.arrays;
  if (dY === undefined) return [dX, dWeights].flatMap((array) => zeroAll(call, array));
  const passes: Pass[] = [];
  if (dX !== undefined) {
    const arrays = {
      dY: [dY, D],
      weights: [operand(call, 'weights'), K],
      dX: [dX, K * D],
    } as const;
    const groupsOf = (tokens: number): number => Math.ceil((tokens * K * D) / THREADS);
    passes.push(...overTokens(call, scaleShader, arrays, groupsOf));
  }
  if (dWeights !== undefined) {
    const arrays = {
      dY: [dY, D],
      x: [operand(call, 'x'), K * D],
      dWeights: [dWeights, K],
    } as const;
    passes.push(...overTokens(call, dotShader, arrays, (tokens) => tokens * K));
  }
  return passes;
}

export const weightedSum: WebGpuKernel = {
  op: 'weightedSum',
  signature: "x[T,K,D]' weights[T,K]'! -> y[T,D]'",
  forward,
  backward,
};
