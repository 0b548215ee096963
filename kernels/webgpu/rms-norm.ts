/**
 * y = x·r·w, r = 1/√(mean x² + eps), and its gradients.
 *
 * x, y [N, D] row-major; rows are owned as in parts/norm-rows.ts. With g = w·dy:
 * dx = r·(g − x·r²·mean(g·x)).  dw = Σₙ dy·x·r over chunks of rows (parts/sum-rows.ts), for which
 * the pass over the rows leaves r.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { forGroups, type NormRows, normRows, rowTotal } from './parts/norm-rows.ts';
import { operand } from './parts/operands.ts';
import { rowSum } from './parts/sum-rows.ts';
import { zeroAll } from './parts/zero.ts';

const weightGradient = rowSum({
  name: 'gradient of the norm’s weight',
  arrays: { dY: 'stored', x: 'stored', scale: 'f32' },
  value: 'get_dY(at) * (get_x(at) * get_scale(row))',
});

const begin = `
  var squares = vec4<f32>();${forGroups(`let v = load_x(row, d);
    squares = fma(v, v, squares);`)}
  let sum = ${rowTotal('squares')};
  let r = 1.0 / sqrt(sum / f32(p.D) + p.eps);`;

const forwardRows: NormRows = {
  name: 'norm',
  reads: ['x'],
  writes: ['y'],
  scales: ['w'],
  statistics: [],
  body: `${begin}${forGroups('store_y(row, d, load_w(0u, d) * (load_x(row, d) * r));')}`,
};

const leaveScale = 'if (at.index == 0u) { put_scale(row, r); }';

const gradient = `
  var products = vec4<f32>();${forGroups(
    'products = fma(load_dY(row, d) * load_w(0u, d), load_x(row, d), products);',
  )}
  let dot = ${rowTotal('products')};
  let pull = r * r * (dot / f32(p.D));${forGroups(`let g = load_dY(row, d) * load_w(0u, d);
    store_dX(row, d, r * fma(-load_x(row, d), vec4<f32>(pull), g));`)}`;

/** @param hasGradient, hasScale  whether the gradient of x and the scales of rows are wanted */
function backwardRows(hasGradient: boolean, hasScale: boolean): NormRows {
  return {
    name: 'norm backward',
    reads: hasGradient ? ['x', 'dY'] : ['x'],
    writes: hasGradient ? ['dX'] : [],
    scales: hasGradient ? ['w'] : [],
    statistics: hasScale ? ['scale'] : [],
    body: `${begin}
  ${hasScale ? leaveScale : ''}
  ${hasGradient ? gradient : ''}`,
  };
}

function forward(call: KernelCall): readonly Pass[] {
  const arrays = { x: operand(call, 'x'), w: operand(call, 'w'), y: operand(call, 'y') };
  return normRows(call, forwardRows, arrays);
}

function backward(call: KernelCall): readonly Pass[] {
  const { N, D } = call.dims;
  const { dY, dX, dW } = call.arrays;
  if (dY === undefined) return [dX, dW].flatMap((array) => zeroAll(call, array));
  const [x, w] = [operand(call, 'x'), operand(call, 'w')];
  const scale = call.scratch('f32', dW === undefined ? 0 : N);
  const made = backwardRows(dX !== undefined, dW !== undefined);
  const rows = normRows(call, made, { x, w, dY, scale, ...(dX === undefined ? {} : { dX }) });
  if (dW === undefined) return rows;
  const arrays = { dY, x, scale };
  return [...rows, ...weightGradient(call, { rows: N, columns: D, arrays, result: dW })];
}

export const rmsNorm: WebGpuKernel = {
  op: 'rmsNorm',
  signature: "x[N,D]' w[D]+ -> y[N,D]' ; eps",
  forward,
  backward,
};
