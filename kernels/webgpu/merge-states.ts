/**
 * Attention over the union of two sets of keys, from its results over each:
 *
 *   lse = ln(e^aLse + e^bLse);  out = α·a + β·b;  α = e^(aLse − lse), β = e^(bLse − lse)
 *
 * Layout: a, b, out [T,H,D]; aLse, bLse, lse [H,T]. A workgroup owns 16 rows (token, head), four
 * threads each, which take every fourth group of four elements; their sums meet in one order.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import {
  groupingKey,
  HEAD_NUMBERS,
  headNumbers,
  headReader,
  headUse,
  headWriter,
} from './parts/heads.ts';
import { operand } from './parts/operands.ts';
import { bytesOfStored, pieces, rowsPerBinding } from './parts/slices.ts';
import { variants } from './parts/variants.ts';
import { type ArrayUse, type Shader, shader } from './shader.ts';

const ROWS = 16;
const LANES = 4;

/**
 * Log-sum-exps travel as bits: −∞ is looked for, not calculated with. Otherwise the sum is at
 * least 1.
 */
const shares = `
const EMPTY = 0xff800000u;

struct Shares { alpha: f32, beta: f32, lse: u32 }

fn shares_of(aBits: u32, bBits: u32) -> Shares {
  if (aBits == EMPTY && bBits == EMPTY) { return Shares(0.0, 0.0, EMPTY); }
  if (aBits == EMPTY) { return Shares(0.0, 1.0, bBits); }
  if (bBits == EMPTY) { return Shares(1.0, 0.0, aBits); }
  let a = bitcast<f32>(aBits);
  let b = bitcast<f32>(bBits);
  let top = max(a, b);
  let alpha = exp(a - top);
  let beta = exp(b - top);
  let sum = alpha + beta;
  return Shares(alpha / sum, beta / sum, bitcast<u32>(top + log(sum)));
}
`;

/** Both ways begin like this. */
const begin = `
  let bound = (at.group.x + at.group.y * p.across) * ${ROWS}u + at.index / ${LANES}u;
  let lane = at.index % ${LANES}u;
  let row = p.firstHead + bound;
  let isRow = row < p.endHead;
  let place = row % p.H * p.T + row / p.H;`;

const NUMBERS = {
  ...HEAD_NUMBERS,
  T: 'u32',
  H: 'u32',
  firstHead: 'u32',
  endHead: 'u32',
  across: 'u32',
} as const;

interface ForwardOptions extends Readonly<Record<'a' | 'b' | 'out', GpuArray>> {
  readonly D: number;
}

function makeForward({ D, a, b, out }: ForwardOptions): Shader {
  return shader({
    name: 'mergeStates',
    arrays: {
      a: headUse('read', a, D),
      aLse: 'read u32',
      b: headUse('read', b, D),
      bLse: 'read u32',
      out: headUse('write', out, D),
      lse: 'write u32',
    },
    numbers: NUMBERS,
    threads: [ROWS * LANES, 1, 1],
    body: `
${shares}
${headReader('a', a, D)}
${headReader('b', b, D)}
${headWriter('out', out, D)}

fn main(at: Place) {
  ${begin}
  if (!isRow) { return; }
  let both = shares_of(get_aLse(place), get_bLse(place));
  if (lane == 0u) { put_lse(place, both.lse); }
  for (var c = lane; c < p.groups; c += ${LANES}u) {
    // A side that saw nothing may hold anything; one whose share is NaN counts.
    var sum = vec4f();
    if (both.alpha != 0.0) { sum = head_a(bound, c) * both.alpha; }
    if (both.beta != 0.0) { sum = fma(head_b(bound, c), vec4f(both.beta), sum); }
    put_head_out(bound, c, sum);
  }
}`,
  });
}

const forwardShader = variants(
  ({ D, a, b, out }: ForwardOptions) => groupingKey([a, b, out], D),
  makeForward,
);

/** Gradients written where wanted. */
type Gradients = Readonly<Record<'dA' | 'dB' | 'dALse' | 'dBLse', GpuArray | undefined>>;

interface BackwardOptions {
  readonly D: number;
  readonly dOut: GpuArray | undefined;
  readonly dLse: GpuArray | undefined;
  readonly a: GpuArray;
  readonly b: GpuArray;
  readonly gradients: Gradients;
}

function makeBackward({ D, dOut, dLse, a, b, gradients }: BackwardOptions): Shader {
  const { dA, dB, dALse, dBLse } = gradients;
  const isShared = dOut !== undefined && (dALse !== undefined || dBLse !== undefined);
  const arrays: Record<string, ArrayUse> = { aLse: 'read u32', bLse: 'read u32' };
  const functions: string[] = [shares];
  const read = (name: string, array: GpuArray | undefined): void => {
    if (array === undefined) return;
    arrays[name] = headUse('read', array, D);
    functions.push(headReader(name, array, D));
  };
  const write = (name: string, array: GpuArray | undefined): void => {
    if (array === undefined) return;
    arrays[name] = headUse('write', array, D);
    functions.push(headWriter(name, array, D));
  };
  read('dOut', dOut);
  read('a', isShared ? a : undefined);
  read('b', isShared ? b : undefined);
  write('dA', dA);
  write('dB', dB);
  if (dLse !== undefined) arrays.dLse = 'read f32';
  if (dALse !== undefined) arrays.dALse = 'write f32';
  if (dBLse !== undefined) arrays.dBLse = 'write f32';
  const only = (isThere: unknown, text: string): string => (isThere ? text : '');
  return shader({
    name: 'mergeStates backward',
    arrays,
    numbers: NUMBERS,
    threads: [ROWS * LANES, 1, 1],
    body: `
${functions.join('\n')}

var<workgroup> parts: array<f32, ${ROWS * LANES}>;

fn main(at: Place) {
  ${begin}
  var both = Shares(0.0, 0.0, EMPTY);
  var part = 0.0;
  if (isRow) {
    both = shares_of(get_aLse(place), get_bLse(place));
    for (var c = lane; c < p.groups; c += ${LANES}u) {
      let g = ${dOut === undefined ? 'vec4f()' : 'head_dOut(bound, c)'};
      ${only(dA, 'put_head_dA(bound, c, select(vec4f(), g * both.alpha, both.alpha != 0.0));')}
      ${only(dB, 'put_head_dB(bound, c, select(vec4f(), g * both.beta, both.beta != 0.0));')}
      ${only(
        isShared,
        `if (both.alpha != 0.0 && both.beta != 0.0) {
        let difference = head_a(bound, c) - head_b(bound, c);
        part = fma(g.x, difference.x, part);
        part = fma(g.y, difference.y, part);
        part = fma(g.z, difference.z, part);
        part = fma(g.w, difference.w, part);
      }`,
      )}
    }
  }
  parts[at.index] = part;
  workgroupBarrier();
  if (!isRow || lane != 0u) { return; }
  let first = at.index;
  let difference = (parts[first] + parts[first + 1u]) + (parts[first + 2u] + parts[first + 3u]);
  let upstream = ${dLse === undefined ? '0.0' : 'get_dLse(place)'};
  ${only(dALse, 'put_dALse(place, both.alpha * fma(both.beta, difference, upstream));')}
  ${only(dBLse, 'put_dBLse(place, both.beta * fma(-both.alpha, difference, upstream));')}
}`,
  });
}

const backwardShader = variants(
  ({ D, dOut, dLse, a, b, gradients: { dA, dB, dALse, dBLse } }: BackwardOptions) =>
    groupingKey([dOut, dLse, a, b, dA, dB, dALse, dBLse], D),
  makeBackward,
);

/** A slice of the heads: what is bound of an array of them, and the rest of its pass. */
interface HeadSlice extends Pick<Pass, 'numbers' | 'workgroups'> {
  of(heads: GpuArray): GpuArray;
}

function headSlices(call: KernelCall): readonly HeadSlice[] {
  const { T, H, D } = call.dims;
  return pieces(T * H, rowsPerBinding(call, bytesOfStored(call) * D, 4)).map(({ start, end }) => {
    const { workgroups, across } = foldGroups(Math.ceil((end - start) / ROWS), call.limits);
    return {
      of: (heads) => heads.slice(start * D, end * D),
      numbers: { ...headNumbers(D), T, H, firstHead: start, endHead: end, across },
      workgroups,
    };
  });
}

function forward(call: KernelCall): readonly Pass[] {
  const { T, H, D } = call.dims;
  if (T * H === 0) return [];
  const sums = {
    aLse: operand(call, 'aLse'),
    bLse: operand(call, 'bLse'),
    lse: operand(call, 'lse'),
  };
  return headSlices(call).map(({ of, ...pass }) => {
    const heads = {
      a: of(operand(call, 'a')),
      b: of(operand(call, 'b')),
      out: of(operand(call, 'out')),
    };
    return { shader: forwardShader({ D, ...heads }), arrays: { ...heads, ...sums }, ...pass };
  });
}

function backward(call: KernelCall): readonly Pass[] {
  const { T, H, D } = call.dims;
  if (T * H === 0) return [];
  const { dLse, dALse, dBLse } = call.arrays;
  return headSlices(call).flatMap(({ of, ...pass }) => {
    const sliced = (name: string): GpuArray | undefined => {
      const array = call.arrays[name];
      return array && of(array);
    };
    const a = of(operand(call, 'a'));
    const b = of(operand(call, 'b'));
    const dOut = sliced('dOut');
    // Arrays of one pass are few, so each side has its own.
    const sides = [
      { dA: sliced('dA'), dALse, dB: undefined, dBLse: undefined },
      { dA: undefined, dALse: undefined, dB: sliced('dB'), dBLse },
    ].filter((side) => Object.values(side).some((gradient) => gradient !== undefined));
    return sides.map((gradients) => {
      const made = backwardShader({ D, dOut, dLse, a, b, gradients });
      const all: Record<string, GpuArray | undefined> = {
        ...gradients,
        dOut,
        dLse,
        a,
        b,
        aLse: operand(call, 'aLse'),
        bLse: operand(call, 'bLse'),
      };
      const arrays: Record<string, GpuArray> = {};
      for (const name of Object.keys(made.arrays)) {
        const array = all[name];
        if (array !== undefined) arrays[name] = array;
      }
      return { shader: made, arrays, ...pass };
    });
  });
}

export const mergeStates: WebGpuKernel = {
  op: 'mergeStates',
  signature: "a[T,H,D]' aLse[H,T]'! b[T,H,D]' bLse[H,T]'! -> out[T,H,D]' lse[H,T]'!",
  forward,
  backward,
};
