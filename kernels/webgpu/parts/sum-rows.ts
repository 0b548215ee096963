/**
 * Sums over rows, as the gradients of biases and scales are: result[c] = Σ value(row, c).
 *
 * A thread owns a column of a chunk of 64 rows, added in order; then a thread adds the chunks of its
 * column in order. The chunk is a constant, so the order depends on the number of rows only.
 */
import type { GpuArray, KernelCall, Pass } from '../kernel.ts';
import { type ArrayKind, type Shader, shader } from '../shader.ts';
import { foldGroups } from './fold-groups.ts';

export interface RowSum {
  readonly name: string;
  /** [rows, columns] each, read at `row * p.columns + column`; or [rows], read at `row`. */
  readonly arrays: Readonly<Record<string, ArrayKind & ('stored' | 'f32')>>;
  /** WGSL of one term, of `row`, and `at` = row · columns + column. */
  readonly value: string;
}

export interface RowSumCall {
  readonly rows: number;
  readonly columns: number;
  readonly arrays: Readonly<Record<string, GpuArray>>;
  /** [columns], float32. */
  readonly result: GpuArray;
}

const CHUNK = 64;
const THREADS = 64;

/** Makes the passes of one kind of sum. */
export type RowSumPasses = (call: KernelCall, wanted: RowSumCall) => readonly Pass[];

export function rowSum(declared: RowSum): RowSumPasses {
  const chunkShader = sumShader(declared);
  return (call, { rows, columns, arrays, result }) => {
    const { limits } = call;
    const chunks = Math.max(1, Math.ceil(rows / CHUNK));
    const partial = chunks === 1 ? result : call.scratch('f32', chunks * columns);
    const fitting = Math.floor(limits.bindingBytes / 4 / Math.max(1, columns));
    const step = Math.max(CHUNK, fitting - (fitting % CHUNK));
    const columnGroups = Math.ceil(columns / THREADS);
    const passes: Pass[] = [];
    for (let start = 0; start < Math.max(1, rows); start += step) {
      const end = Math.min(rows, start + step);
      const count = Math.max(1, Math.ceil((end - start) / CHUNK));
      const sliced = Object.entries(arrays).map(([name, array]) => {
        const width = array.length === rows * columns ? columns : 1;
        return [name, array.slice(start * width, end * width)] as const;
      });
      const first = start / CHUNK;
      const { workgroups, across } = foldGroups(columnGroups * count, limits);
      passes.push({
        shader: chunkShader,
        arrays: {
          ...Object.fromEntries(sliced),
          result: partial.slice(first * columns, (first + count) * columns),
        },
        numbers: { rows: end - start, columns, columnGroups, across, chunks: count },
        workgroups,
      });
    }
    if (chunks === 1) return passes;
    return [...passes, ...addChunks(call, partial, chunks, columns, result)];
  };
}

/** result[c] = Σ partial[chunk, c], in the order of the chunks. */
export function addChunks(
  { limits }: KernelCall,
  partial: GpuArray,
  chunks: number,
  columns: number,
  result: GpuArray,
): readonly Pass[] {
  // Slices of the chunks, added up one after the other, where all of them cannot be bound.
  const step = Math.max(1, Math.floor(limits.bindingBytes / 4 / Math.max(1, columns)));
  const { workgroups, across } = foldGroups(Math.ceil(columns / THREADS), limits);
  return Array.from({ length: Math.ceil(chunks / step) }, (_, i) => {
    const [start, end] = [i * step, Math.min(chunks, (i + 1) * step)];
    return {
      shader: chunkAdder,
      arrays: { partial: partial.slice(start * columns, end * columns), result },
      numbers: { chunks: end - start, columns, across, adds: i },
      workgroups,
    };
  });
}

const chunkAdder: Shader = shader({
  name: 'add chunks',
  arrays: { partial: 'read f32', result: 'write f32' },
  numbers: { chunks: 'u32', columns: 'u32', across: 'u32', adds: 'u32' },
  threads: [THREADS, 1, 1],
  body: `
fn main(at: Place) {
  let column = (at.group.y * p.across + at.group.x) * ${THREADS}u + at.index;
  if (column >= p.columns) { return; }
  var sum = 0.0;
  if (p.adds != 0u) { sum = get_result(column); }
  for (var chunk = 0u; chunk < p.chunks; chunk++) {
    sum += get_partial(chunk * p.columns + column);
  }
  put_result(column, sum);
}`,
});

function sumShader({ name, arrays, value }: RowSum): Shader {
  return shader({
    name,
    arrays: {
      ...Object.fromEntries(
        Object.entries(arrays).map(([array, kind]) => [array, `read ${kind}` as const]),
      ),
      result: 'write f32',
    },
    numbers: { rows: 'u32', columns: 'u32', columnGroups: 'u32', across: 'u32', chunks: 'u32' },
    threads: [THREADS, 1, 1],
    body: `
fn main(place: Place) {
  let number = place.group.y * p.across + place.group.x;
  let chunk = number / p.columnGroups;
  let column = (number % p.columnGroups) * ${THREADS}u + place.index;
  if (chunk >= p.chunks || column >= p.columns) { return; }
  let end = min(p.rows, (chunk + 1u) * ${CHUNK}u);
  var sum = 0.0;
  for (var row = chunk * ${CHUNK}u; row < end; row++) {
    let at = row * p.columns + column;
    sum += ${value};
  }
  put_result(chunk * p.columns + column, sum);
}`,
  });
}
