/**
 * Rows found by index: copied from, copied to and added up, in an order that needs no atomics.
 *
 * `RowSet` is a matrix whose row 0 has a given index, so that one list of indices may point into
 * several matrices, or into slices of one that is too big to bind. Each index is checked before it
 * is followed.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';

export interface RowSet {
  /** [count, width]. */
  readonly array: GpuArray;
  readonly count: number;
  /** Index of its first row. */
  readonly first: number;
}

export interface IndexedRows {
  /** [count]; as messages call it. */
  readonly indices: GpuArray;
  readonly name: string;
  /** Indices must be at least 0 and below this. */
  readonly bound: number;
  /** [count, width]: what the indices belong to. */
  readonly rows: GpuArray;
  readonly count: number;
  readonly width: number;
}

/**
 * Rows of the list that one pass takes at most where each looks for its own index among the others:
 * constant, so that the looking stays linear in the list.
 */
const LISTED = 4096;

const THREADS = 64;

const sentence = (name: string): string =>
  `${name}[{index}] is {value}; expected at least 0 and below {bound}. Check the indices.`;

const numbers = {
  count: 'u32',
  width: 'u32',
  firstListed: 'u32',
  bound: 'u32',
  first: 'u32',
  end: 'u32',
  across: 'u32',
} as const;

/** WGSL of `is_refused(n)`, which reports an index that must not be followed. */
const check = `
fn is_refused(n: u32) -> bool {
  let index = get_indices(n);
  return index < 0 || u32(index) >= p.bound;
}

fn refuse(n: u32) { fail(0u, p.firstListed + n, get_indices(n)); }

// Row of the set that index n points at; the set's end and beyond: none.
fn row_of(n: u32) -> u32 {
  let index = u32(get_indices(n));
  return select(p.end - p.first, index - p.first, index >= p.first && index < p.end);
}`;

/** Where one index stands several times, the rows of a workgroup's own: the first or the last. */
const lookup = `
var<workgroup> others: atomic<u32>;
var<workgroup> is_other: u32;

// True for all threads if index n stands in [start, end) too.
fn stands_in(n: u32, start: u32, end: u32, thread: u32) -> bool {
  if (thread == 0u) { atomicStore(&others, 0u); }
  workgroupBarrier();
  let index = get_indices(n);
  for (var j = start + thread; j < end; j += ${THREADS}u) {
    if (get_indices(j) == index) { atomicStore(&others, 1u); break; }
  }
  workgroupBarrier();
  if (thread == 0u) { is_other = atomicLoad(&others); }
  return workgroupUniformLoad(&is_other) != 0u;
}`;

const begin = (name: string): Pick<Shader, 'name' | 'numbers' | 'threads' | 'failures'> => ({
  name,
  numbers,
  threads: [THREADS, 1, 1],
  failures: [],
});

interface Shaders {
  readonly gather: Shader;
  readonly scatter: Shader;
  readonly add: Readonly<Record<'f32' | 'stored', Shader>>;
}

const made = new Map<string, Shaders>();

/** One set of shaders for each name of a list, which is all that differs: messages say it. */
function shadersFor(name: string): Shaders {
  let shaders = made.get(name);
  if (shaders === undefined) {
    const failures = [sentence(name)];
    shaders = {
      gather: { ...gatherShader, failures },
      scatter: { ...scatterShader, failures },
      add: {
        f32: { ...addShader('f32'), failures },
        stored: { ...addShader('stored'), failures },
      },
    };
    made.set(name, shaders);
  }
  return shaders;
}

/** A workgroup owns a row of the list. */
const gatherShader: Shader = shader({
  ...begin('gather rows'),
  arrays: { indices: 'read i32', set: 'read stored', rows: 'write stored' },
  body: `${check}
fn main(at: Place) {
  let n = at.group.y * p.across + at.group.x;
  if (n >= p.count) { return; }
  if (is_refused(n)) { if (at.index == 0u) { refuse(n); } return; }
  let row = row_of(n);
  if (row >= p.end - p.first) { return; }
  for (var d = at.index; d < p.width; d += ${THREADS}u) {
    put_rows(n * p.width + d, get_set(row * p.width + d));
  }
}`,
});

/** A workgroup owns a row of the list, and copies it if its index stands nowhere behind it. */
const scatterShader: Shader = shader({
  ...begin('scatter rows'),
  arrays: { indices: 'read i32', rows: 'read stored', set: 'write stored' },
  body: `${check}
${lookup}
fn main(at: Place, group: vec3<u32>) {
  let n = group.y * p.across + group.x;
  if (n >= p.count) { return; }
  if (is_refused(n)) { if (at.index == 0u) { refuse(n); } return; }
  let row = row_of(n);
  if (row >= p.end - p.first) { return; }
  if (stands_in(n, n + 1u, p.count, at.index)) { return; }
  for (var d = at.index; d < p.width; d += ${THREADS}u) {
    put_set(row * p.width + d, get_rows(n * p.width + d));
  }
}`,
});

/**
 * A workgroup owns 256 columns of the row that an index points at, if it stands nowhere before;
 * then it adds all rows of that index in the order of the list.
 */
function addShader(kind: 'f32' | 'stored'): Shader {
  return shader({
    ...begin('add rows'),
    arrays: { indices: 'read i32', rows: 'read stored', set: `write ${kind}` },
    body: `${check}
${lookup}
var<workgroup> matches: array<atomic<u32>, 2>;

fn main(at: Place, group: vec3<u32>) {
  let blocks = (p.width + 255u) / 256u;
  let number = group.y * p.across + group.x;
  let n = number / blocks;
  if (n >= p.count) { return; }
  if (is_refused(n)) { if (at.index == 0u) { refuse(n); } return; }
  let row = row_of(n);
  if (row >= p.end - p.first) { return; }
  if (stands_in(n, 0u, n, at.index)) { return; }
  let index = get_indices(n);
  let first = (number % blocks) * 256u + at.index;
  var sums = vec4<f32>();
  for (var i = 0u; i < 4u; i++) {
    let d = first + i * ${THREADS}u;
    if (d < p.width) { sums[i] = get_set(row * p.width + d); }
  }
  for (var start = n; start < p.count; start += ${THREADS}u) {
    if (at.index < 2u) { atomicStore(&matches[at.index], 0u); }
    workgroupBarrier();
    let j = start + at.index;
    if (j < p.count && get_indices(min(j, p.count - 1u)) == index) {
      atomicOr(&matches[at.index >> 5u], 1u << (at.index & 31u));
    }
    workgroupBarrier();
    for (var word = 0u; word < 2u; word++) {
      var bits = atomicLoad(&matches[word]);
      while (bits != 0u) {
        let row_start = (start + 32u * word + countTrailingZeros(bits)) * p.width;
        bits &= bits - 1u;
        for (var i = 0u; i < 4u; i++) {
          let d = first + i * ${THREADS}u;
          if (d < p.width) { sums[i] += get_rows(row_start + d); }
        }
      }
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    let d = first + i * ${THREADS}u;
    if (d < p.width) { put_set(row * p.width + d, sums[i]); }
  }
}`,
  });
}

/** rows[n] = the row that index n points at, of all the sets. */
export function gather(
  call: KernelCall,
  list: IndexedRows,
  sets: readonly RowSet[],
): readonly Pass[] {
  return overList(call, list, sets, shadersFor(list.name).gather, { most: Infinity, blocks: 1 });
}

/** The row that index n points at = rows[n]; the last one wins where an index repeats. */
export function scatter(call: KernelCall, list: IndexedRows, set: RowSet): readonly Pass[] {
  const { scatter: made } = shadersFor(list.name);
  return overList(call, list, [set], made, { most: LISTED, blocks: 1 });
}

/** Adds rows[n] to the row that index n points at, in order of n. */
export function addUp(
  call: KernelCall,
  list: IndexedRows,
  set: RowSet,
  kind: 'f32' | 'stored',
): readonly Pass[] {
  const { add } = shadersFor(list.name);
  const blocks = Math.ceil(list.width / 256);
  return overList(call, list, [set], add[kind], { most: LISTED, blocks });
}

/** One pass for each slice of the list and of the sets that can be bound, in the list's order. */
function overList(
  { limits }: KernelCall,
  { indices, bound, rows, count, width }: IndexedRows,
  sets: readonly RowSet[],
  made: Shader,
  { most, blocks }: { readonly most: number; readonly blocks: number },
): readonly Pass[] {
  const fitting = Math.max(1, Math.floor(limits.bindingBytes / 4 / Math.max(1, width)));
  const step = Math.min(most, fitting);
  const passes: Pass[] = [];
  for (let start = 0; start < count; start += step) {
    const end = Math.min(count, start + step);
    const listed = {
      indices: indices.slice(start, end),
      rows: rows.slice(start * width, end * width),
    };
    const { workgroups, across } = foldGroups((end - start) * blocks, limits);
    for (const set of sets) {
      for (let from = 0; from < Math.max(1, set.count); from += fitting) {
        const to = Math.min(set.count, from + fitting);
        passes.push({
          shader: made,
          arrays: { ...listed, set: set.array.slice(from * width, to * width) },
          numbers: {
            count: end - start,
            width,
            firstListed: start,
            bound,
            first: set.first + from,
            end: set.first + to,
            across,
          },
          workgroups,
        });
      }
    }
  }
  return passes;
}
