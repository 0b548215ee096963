/**
 * y₁ = x₁∘cos − x₂∘sin, y₂ = x₂∘cos + x₁∘sin over the halves of each head; the backward turns back.
 *
 * Layout: x, y [T, H, D], cos and sin [T, E] in float32, D = 2E. A thread owns one pair, or four
 * neighboring pairs where half a head is whole vectors.
 */

import type { GpuArray, KernelCall, Pass, WebGpuKernel } from './kernel.ts';
import { foldGroups } from './parts/fold-groups.ts';
import { operand } from './parts/operands.ts';
import { zeroAll } from './parts/zero.ts';
import { type Shader, shader } from './shader.ts';

const THREADS = 128;

function rotateShader(vec4: '' | ' vec4'): Shader {
  return shader({
    name: 'rotate',
    arrays: {
      x: `read stored${vec4}`,
      cos: `read f32${vec4}`,
      sin: `read f32${vec4}`,
      y: `write stored${vec4}`,
    },
    // E in the units of an index: elements or vectors.
    numbers: { count: 'u32', stride: 'u32', H: 'u32', E: 'u32', sign: 'f32' },
    threads: [THREADS, 1, 1],
    body: `
fn main(at: Place) {
  let i = at.global.y * p.stride + at.global.x;
  if (i >= p.count) { return; }
  let e = i % p.E;
  let head = i / p.E;
  let angle = (head / p.H) * p.E + e;
  let first = head * 2u * p.E + e;
  let second = first + p.E;
  let c = get_cos(angle);
  let s = p.sign * get_sin(angle);
  let a = get_x(first);
  let b = get_x(second);
  put_y(first, a * c - b * s);
  put_y(second, b * c + a * s);
}`,
  });
}

const shaders = { elements: rotateShader(''), vectors: rotateShader(' vec4') };

function rotate(call: KernelCall, x: GpuArray, y: GpuArray, sign: 1 | -1): readonly Pass[] {
  const { T, H, D, E } = call.dims;
  if (D !== 2 * E) {
    throw new RangeError(
      `the tables hold ${E} angles for heads of ${D}. Pass tables of half a head.`,
    );
  }
  const [cos, sin] = [operand(call, 'cos'), operand(call, 'sin')];
  const isVector = E % 4 === 0 && [x, y, cos, sin].every(({ isAligned }) => isAligned);
  const units = isVector ? E / 4 : E;
  const step = Math.max(1, Math.floor(call.limits.bindingBytes / 4 / Math.max(1, H * D)));
  return Array.from({ length: Math.ceil(T / step) }, (_, i): Pass => {
    const [start, end] = [i * step, Math.min(T, (i + 1) * step)];
    const count = (end - start) * H * units;
    const { workgroups, across } = foldGroups(Math.ceil(count / THREADS), call.limits);
    return {
      shader: isVector ? shaders.vectors : shaders.elements,
      arrays: {
        x: x.slice(start * H * D, end * H * D),
        y: y.slice(start * H * D, end * H * D),
        cos: cos.slice(start * E, end * E),
        sin: sin.slice(start * E, end * E),
      },
      numbers: { count, stride: across * THREADS, H, E: units, sign },
      workgroups,
    };
  });
}

export const rotary: WebGpuKernel = {
  op: 'rotary',
  signature: "x[T,H,D]' cos[T,E]! sin[T,E]! -> y[T,H,D]'",
  forward: (call) => rotate(call, operand(call, 'x'), operand(call, 'y'), 1),
  backward: (call) => {
    const { dY, dX } = call.arrays;
    if (dX === undefined) return [];
    return dY === undefined ? zeroAll(call, dX) : rotate(call, dY, dX, -1);
  },
};
