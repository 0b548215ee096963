/**
 * y = x·r·w, r = 1/√(mean x² + eps), and its gradients.
 *
 * x, y [N, D] row-major. A workgroup of 64 threads owns a row; a thread takes every 64th group of
 * four elements, and the threads' sums are added as a tree, so a row depends on itself alone.
 * With g = w·dy:  dx = r·(g − x·r²·mean(g·x)).  dw = Σₙ dy·x·r over chunks of rows
 * (parts/sum-rows.ts), for which the pass over the rows leaves r.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { rowLoader } from './parts/row-access.ts';
import { rowSum } from './parts/sum-rows.ts';
import { workgroupSum } from './parts/workgroup-sum.ts';
import { zeroAll } from './parts/zero.ts';
import { type ArrayUse, type Shader, shader } from './shader.ts';

const THREADS = 64;

interface Variant {
  readonly isBackward: boolean;
  readonly isVector: boolean;
  /** In the backward: the gradients it writes. */
  readonly hasGradient: boolean;
  readonly hasScale: boolean;
}

const shaders = new Map<string, Shader>();

const weightGradient = rowSum({
  name: 'gradient of the norm’s weight',
  arrays: { dY: 'stored', x: 'stored', scale: 'f32' },
  value: 'get_dY(at) * (get_x(at) * get_scale(row))',
});

/** One pass over rows for every slice of them that can be bound. */
function overRows(
  call: KernelCall,
  matrices: Readonly<Record<string, GpuArray>>,
  vectors: Readonly<Record<string, GpuArray>>,
  options: Pick<Variant, 'isBackward'>,
): readonly Pass[] {
  const { N, D } = call.dims;
  const { limits } = call;
  const w = operand(call, 'w');
  const isVector = D % 4 === 0 && [...Object.values(matrices), w].every((array) => array.isAligned);
  const made = variant({
    ...options,
    isVector,
    hasGradient: 'dX' in matrices,
    hasScale: 'scale' in vectors,
  });
  const step = Math.max(1, Math.floor(limits.bindingBytes / 4 / Math.max(1, D)));
  return Array.from({ length: Math.ceil(N / step) }, (_, i) => {
    const [start, end] = [i * step, Math.min(N, (i + 1) * step)];
    const slices = Object.entries(matrices).map(
      ([name, array]) => [name, array.slice(start * D, end * D)] as const,
    );
    const rows = Object.entries(vectors).map(
      ([name, array]) => [name, array.slice(start, end)] as const,
    );
    const { workgroups, across } = foldGroups(end - start, limits);
    return {
      shader: made,
      arrays: { ...Object.fromEntries([...slices, ...rows]), w },
      numbers: { N: end - start, D, across, eps: call.scalars.eps },
      workgroups,
    };
  });
}

function variant(wanted: Variant): Shader {
  const key = Object.values(wanted).join();
  let made = shaders.get(key);
  if (made === undefined) {
    made = wanted.isBackward ? backwardShader(wanted) : forwardShader(wanted);
    shaders.set(key, made);
  }
  return made;
}

const numbers = { N: 'u32', D: 'u32', across: 'u32', eps: 'f32' } as const;

const begin = `
  let row = group.y * p.across + group.x;
  if (row >= p.N) { return; }
  var squares = vec4<f32>();
  for (var d = 4u * at.index; d < p.D; d += ${4 * THREADS}u) {
    let v = load_x(row, d);
    squares = fma(v, v, squares);
  }
  let sum = workgroup_sum((squares.x + squares.y) + (squares.z + squares.w), at.index);
  let r = 1.0 / sqrt(sum / f32(p.D) + p.eps);`;

const loaders = (names: readonly string[], isVector: boolean): string =>
  names.map((name) => rowLoader(name, { rows: 'p.N', width: 'p.D', isVector })).join('\n');

const store = (name: string, isVector: boolean): string =>
  isVector
    ? `put_${name}(row * (p.D >> 2u) + (d >> 2u), value);`
    : `for (var i = 0u; i < min(4u, p.D - d); i++) { put_${name}(row * p.D + d + i, value[i]); }`;

/** w [D] is a matrix of one row. */
const loadWeight = (isVector: boolean): string =>
  rowLoader('w', { rows: '1u', width: 'p.D', isVector });

function forwardShader({ isVector }: Variant): Shader {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  return shader({
    name: 'norm',
    arrays: { x: `read stored${vec4}`, w: `read stored${vec4}`, y: `write stored${vec4}` },
    numbers,
    threads: [THREADS, 1, 1],
    body: `${workgroupSum(THREADS)}
${loaders(['x'], isVector)}
${loadWeight(isVector)}
fn main(at: Place, group: vec3<u32>) {${begin}
  for (var d = 4u * at.index; d < p.D; d += ${4 * THREADS}u) {
    let value = load_w(0u, d) * (load_x(row, d) * r);
    ${store('y', isVector)}
  }
}`,
  });
}

function backwardShader({ isVector, hasGradient, hasScale }: Variant): Shader {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  const arrays: Record<string, ArrayUse> = {
    x: `read stored${vec4}`,
    w: `read stored${vec4}`,
    ...(hasGradient ? { dY: `read stored${vec4}`, dX: `write stored${vec4}` } : {}),
    ...(hasScale ? { scale: 'write f32' } : {}),
  };
  const gradient = `
  var products = vec4<f32>();
  for (var d = 4u * at.index; d < p.D; d += ${4 * THREADS}u) {
    products = fma(load_dY(row, d) * load_w(0u, d), load_x(row, d), products);
  }
  let dot = workgroup_sum((products.x + products.y) + (products.z + products.w), at.index);
  let pull = r * r * (dot / f32(p.D));
  for (var d = 4u * at.index; d < p.D; d += ${4 * THREADS}u) {
    let g = load_dY(row, d) * load_w(0u, d);
    let value = r * fma(-load_x(row, d), vec4<f32>(pull), g);
    ${store('dX', isVector)}
  }`;
  return shader({
    name: 'norm backward',
    arrays,
    numbers,
    threads: [THREADS, 1, 1],
    body: `${workgroupSum(THREADS)}
${loaders(hasGradient ? ['x', 'dY'] : ['x'], isVector)}
${loadWeight(isVector)}
fn main(at: Place, group: vec3<u32>) {${begin}
  ${hasScale ? 'if (at.index == 0u) { put_scale(row, r); }' : ''}
  ${hasGradient ? gradient : ''}
}`,
  });
}

function forward(call: KernelCall): readonly Pass[] {
  const matrices = { x: operand(call, 'x'), y: operand(call, 'y') };
  return overRows(call, matrices, {}, { isBackward: false });
}

function backward(call: KernelCall): readonly Pass[] {
  const { N, D } = call.dims;
  const { dY, dX, dW } = call.arrays;
  if (dY === undefined) return [dX, dW].flatMap((array) => zeroAll(call, array));
  const x = operand(call, 'x');
  const scale = dW === undefined ? undefined : call.scratch('f32', N);
  const rows = overRows(
    call,
    dX === undefined ? { x } : { x, dY, dX },
    scale === undefined ? {} : { scale },
    { isBackward: true },
  );
  if (dW === undefined || scale === undefined) return rows;
  const arrays = { dY, x, scale };
  return [...rows, ...weightGradient(call, { rows: N, columns: D, arrays, result: dW })];
}

export const rmsNorm: WebGpuKernel = {
  op: 'rmsNorm',
  signature: "x[N,D]' w[D]+ -> y[N,D]' ; eps",
  forward,
  backward,
};
