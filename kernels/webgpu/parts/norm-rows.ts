/**
 * Rows that are normalized: who owns what of a row, for forward and backward.
 *
 * A workgroup of 64 threads owns a row; a thread takes every 64th group of four elements, and the
 * threads' sums are added as a tree, so a row depends on itself alone.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type ArrayUse, type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';
import { rowLoader } from './row-access.ts';
import { variants } from './variants.ts';
import { workgroupSum } from './workgroup-sum.ts';

const THREADS = 64;

export interface NormRows {
  readonly name: string;
  /** Arrays [N, D] that are read and that are written. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Arrays [D] that are read. */
  readonly scales: readonly string[];
  /** Arrays [N] that are written, float32. */
  readonly statistics: readonly string[];
  /**
   * WGSL of the statements for `row`, of which `load_<name>(row, d)` gives four elements of an array
   * [N, D] and `load_<name>(0u, d)` of one [D], zeros beyond the edge.
   */
  readonly body: string;
}

/** WGSL of a loop over the groups of four elements that a thread owns, the first at `d`. */
export const forGroups = (statements: string): string => `
  for (var d = 4u * at.index; d < p.D; d += ${4 * THREADS}u) {
    ${statements}
  }`;

/** WGSL of the sum over a row, for all threads, of a vector of every thread. */
export const rowTotal = (sums: string): string =>
  `workgroup_sum((${sums}.x + ${sums}.y) + (${sums}.z + ${sums}.w), at.index)`;

/** WGSL of `value`, a vector at `d`, with zeros beyond the edge of the row. */
export const insideRow = (value: string): string =>
  `select(vec4<f32>(), ${value}, vec4<u32>(d) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.D))`;

/** The passes over all rows: one for every slice of them that can be bound. */
export function normRows(
  call: KernelCall,
  wanted: NormRows,
  arrays: Readonly<Record<string, GpuArray>>,
): readonly Pass[] {
  const { N, D } = call.dims;
  const { limits } = call;
  const matrices = [...wanted.reads, ...wanted.writes];
  const isVector =
    D % 4 === 0 && [...matrices, ...wanted.scales].every((name) => arrays[name].isAligned);
  const made = normShader({ ...wanted, isVector });
  const step = Math.max(1, Math.floor(limits.bindingBytes / 4 / Math.max(1, D)));
  return Array.from({ length: Math.ceil(N / step) }, (_, i) => {
    const [start, end] = [i * step, Math.min(N, (i + 1) * step)];
    const sliced = (names: readonly string[], width: number) =>
      names.map((name) => [name, arrays[name].slice(start * width, end * width)] as const);
    const { workgroups, across } = foldGroups(end - start, limits);
    return {
      shader: made,
      arrays: Object.fromEntries([
        ...sliced(matrices, D),
        ...sliced(wanted.statistics, 1),
        ...wanted.scales.map((name) => [name, arrays[name]] as const),
      ]),
      numbers: { N: end - start, D, across, eps: call.scalars.eps },
      workgroups,
    };
  });
}

interface Variant extends NormRows {
  readonly isVector: boolean;
}

const normShader = variants(
  ({ reads, writes, scales, statistics, ...rest }: Variant) =>
    [reads, writes, scales, statistics].map((names) => names.join(' ')).join() +
    Object.values(rest).join(),
  makeShader,
);

function makeShader({ name, reads, writes, scales, statistics, body, isVector }: Variant): Shader {
  const vec4 = isVector ? (' vec4' as const) : ('' as const);
  const use = (names: readonly string[], kind: ArrayUse) =>
    names.map((array) => [array, kind] as const);
  const loaders = (names: readonly string[], rows: string): string =>
    names.map((array) => rowLoader(array, { rows, width: 'p.D', isVector })).join('\n');
  return shader({
    name,
    arrays: Object.fromEntries([
      ...use([...reads, ...scales], `read stored${vec4}`),
      ...use(writes, `write stored${vec4}`),
      ...use(statistics, 'write f32'),
    ]),
    numbers: { N: 'u32', D: 'u32', across: 'u32', eps: 'f32' },
    threads: [THREADS, 1, 1],
    body: `${workgroupSum(THREADS)}
${loaders(reads, 'p.N')}
${loaders(scales, '1u')}
${writes.map((array) => storer(array, isVector)).join('\n')}
fn main(at: Place, group: vec3<u32>) {
  let row = group.y * p.across + group.x;
  if (row >= p.N) { return; }
${body}
}`,
  });
}

/** `store_<name>(row, d, value)`: four neighbors of a row, none beyond its edge. */
const storer = (name: string, isVector: boolean): string => `
fn store_${name}(row: u32, d: u32, value: vec4<f32>) {
  ${
    isVector
      ? `put_${name}(row * (p.D >> 2u) + (d >> 2u), value);`
      : `for (var i = 0u; i < min(4u, p.D - d); i++) { put_${name}(row * p.D + d + i, value[i]); }`
  }
}`;
