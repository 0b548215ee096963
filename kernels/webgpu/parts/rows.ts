/** Rows set to zero, and rows copied to another storage type: a workgroup owns a row. */
import type { GpuArray, Pass } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';

/** Workgroups along x; more rows go on along y. */
const ACROSS = 32_768;

const across = (rows: number): readonly [number, number, number] => [
  Math.min(rows, ACROSS),
  Math.ceil(rows / ACROSS),
  1,
];

// The array is either a gradient in the launch's storage or float32 sums.
const zeroShader = (kind: 'stored' | 'f32'): Shader =>
  shader({
    name: `zero rows ${kind}`,
    arrays: { x: `write ${kind}` },
    numbers: { rows: 'u32', D: 'u32' },
    threads: [64, 1, 1],
    body: `
fn main(at: Place) {
  let row = at.group.y * ${ACROSS}u + at.group.x;
  if (row >= p.rows) { return; }
  for (var d = at.index; d < p.D; d += 64u) { put_x(row * p.D + d, 0.0); }
}`,
  });

const zeroShaders = { f32: zeroShader('f32'), stored: zeroShader('stored') };

const copyShader = shader({
  name: 'copy rows',
  arrays: { x: 'read f32', y: 'write stored' },
  numbers: { rows: 'u32', D: 'u32' },
  threads: [64, 1, 1],
  body: `
fn main(at: Place) {
  let row = at.group.y * ${ACROSS}u + at.group.x;
  if (row >= p.rows) { return; }
  for (var d = at.index; d < p.D; d += 64u) { put_y(row * p.D + d, get_x(row * p.D + d)); }
}`,
});

/** Zeros in [rows, D], `step` rows per pass. */
export function zeroRows(x: GpuArray, rows: number, D: number, step: number): readonly Pass[] {
  return Array.from({ length: Math.ceil(rows / step) }, (_, i) => {
    const [start, end] = [i * step, Math.min(rows, (i + 1) * step)];
    return {
      shader: zeroShaders[x.storage === 'f32' ? 'f32' : 'stored'],
      arrays: { x: x.slice(start * D, end * D) },
      numbers: { rows: end - start, D },
      workgroups: across(end - start),
    };
  });
}

/** Float32 rows rounded to the launch's storage. */
export function copyRows(x: GpuArray, y: GpuArray, rows: number, D: number): Pass {
  return { shader: copyShader, arrays: { x, y }, numbers: { rows, D }, workgroups: across(rows) };
}
