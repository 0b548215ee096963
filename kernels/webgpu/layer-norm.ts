/**
 * y = w·x̂ + b, x̂ = (x − μ)·r, r = 1/√(variance + eps), and its gradients.
 *
 * x, y [N, D] row-major; rows are owned as in parts/norm-rows.ts. The variance is summed after the
 * mean, since the mean of squares less the square of the mean cancels. With g = w·dy:
 * dx = r·(g − mean(g) − x̂·mean(g·x̂)).  dw = Σₙ dy·x̂ and db = Σₙ dy over chunks of rows
 * (parts/sum-rows.ts); for dw the pass over the rows leaves μ and r.
 */

import type { KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { forGroups, insideRow, type NormRows, normRows, rowTotal } from './parts/norm-rows.ts';
import { operand } from './parts/operands.ts';
import { rowSum } from './parts/sum-rows.ts';
import { zeroAll } from './parts/zero.ts';

const weightGradient = rowSum({
  name: 'gradient of the layer norm’s weight',
  arrays: { dY: 'stored', x: 'stored', center: 'f32', scale: 'f32' },
  value: 'get_dY(at) * ((get_x(at) - get_center(row)) * get_scale(row))',
});

const biasGradient = rowSum({
  name: 'gradient of the layer norm’s bias',
  arrays: { dY: 'stored' },
  value: 'get_dY(at)',
});

const begin = `
  var sums = vec4<f32>();${forGroups('sums += load_x(row, d);')}
  let mean = ${rowTotal('sums')} / f32(p.D);
  var squares = vec4<f32>();${forGroups(`let v = ${insideRow('load_x(row, d) - mean')};
    squares = fma(v, v, squares);`)}
  let r = 1.0 / sqrt(${rowTotal('squares')} / f32(p.D) + p.eps);`;

const normal = '(load_x(row, d) - mean) * r';

function forwardRows(hasBias: boolean): NormRows {
  const value = `${normal} * load_w(0u, d)${hasBias ? ' + load_b(0u, d)' : ''}`;
  return {
    name: 'layer norm',
    reads: ['x'],
    writes: ['y'],
    scales: hasBias ? ['w', 'b'] : ['w'],
    statistics: [],
    body: `${begin}${forGroups(`store_y(row, d, ${value});`)}`,
  };
}

const leaveStatistics = 'if (at.index == 0u) { put_center(row, mean); put_scale(row, r); }';

const gradient = `
  var gradients = vec4<f32>();
  var products = vec4<f32>();${forGroups(`let g = load_dY(row, d) * load_w(0u, d);
    gradients += g;
    products = fma(g, ${normal}, products);`)}
  let shift = ${rowTotal('gradients')} / f32(p.D);
  let pull = ${rowTotal('products')} / f32(p.D);${forGroups(
    `let g = load_dY(row, d) * load_w(0u, d) - shift;
    store_dX(row, d, r * fma(-(${normal}), vec4<f32>(pull), g));`,
  )}`;

/** @param hasGradient, hasStatistics  whether the gradient of x and the rows' μ and r are wanted */
function backwardRows(hasGradient: boolean, hasStatistics: boolean): NormRows {
  return {
    name: 'layer norm backward',
    reads: hasGradient ? ['x', 'dY'] : ['x'],
    writes: hasGradient ? ['dX'] : [],
    scales: hasGradient ? ['w'] : [],
    statistics: hasStatistics ? ['center', 'scale'] : [],
    body: `${begin}
  ${hasStatistics ? leaveStatistics : ''}
  ${hasGradient ? gradient : ''}`,
  };
}

function forward(call: KernelCall): readonly Pass[] {
  const { b } = call.arrays;
  const arrays = { x: operand(call, 'x'), w: operand(call, 'w'), y: operand(call, 'y') };
  return normRows(call, forwardRows(b !== undefined), b === undefined ? arrays : { ...arrays, b });
}

function backward(call: KernelCall): readonly Pass[] {
  const { N, D } = call.dims;
  const { dY, dX, dW, dB } = call.arrays;
  if (dY === undefined) return [dX, dW, dB].flatMap((array) => zeroAll(call, array));
  const [x, w] = [operand(call, 'x'), operand(call, 'w')];
  const hasStatistics = dW !== undefined;
  const center = call.scratch('f32', hasStatistics ? N : 0);
  const scale = call.scratch('f32', hasStatistics ? N : 0);
  const given = { x, w, dY, center, scale, ...(dX === undefined ? {} : { dX }) };
  const passes =
    dX === undefined && !hasStatistics
      ? []
      : [...normRows(call, backwardRows(dX !== undefined, hasStatistics), given)];
  const sum = { rows: N, columns: D };
  if (dW !== undefined) {
    const arrays = { dY, x, center, scale };
    passes.push(...weightGradient(call, { ...sum, arrays, result: dW }));
  }
  if (dB !== undefined) passes.push(...biasGradient(call, { ...sum, arrays: { dY }, result: dB }));
  return passes;
}

export const layerNorm: WebGpuKernel = {
  op: 'layerNorm',
  signature: "x[N,D]' w[D]+ b[D]+? -> y[N,D]' ; eps",
  forward,
  backward,
};
