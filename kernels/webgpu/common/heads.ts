/** Heads of D elements read and written in groups of four, whatever D and the alignment. */
import type { GpuArray } from '../kernel.ts';
import type { ArrayUse } from '../shader.ts';

/** Groups of four elements of a head. */
export const groupsOf = (D: number): number => Math.ceil(D / 4);

/** Numbers that shaders over heads count on. */
export const HEAD_NUMBERS = { D: 'u32', groups: 'u32' } as const;
export const headNumbers = (D: number): Readonly<Record<'D' | 'groups', number>> => ({
  D,
  groups: groupsOf(D),
});

/** Whether a view of vectors fits heads of D elements of this array. */
export const isGrouped = (array: GpuArray, D: number): boolean => D % 4 === 0 && array.isAligned;

/** Tells shaders over these arrays apart. */
export const groupingKey = (arrays: readonly (GpuArray | undefined)[], D: number): string =>
  arrays.map((array) => (array === undefined ? '-' : isGrouped(array, D) ? '4' : '1')).join('');

/** The declaration of an array of heads. */
export function headUse(
  direction: 'read' | 'write',
  array: GpuArray,
  D: number,
  kind: 'stored' | 'f32' = 'stored',
): ArrayUse {
  return isGrouped(array, D) ? `${direction} ${kind} vec4` : `${direction} ${kind}`;
}

/** `head_x(row, c)`: elements 4c … 4c + 3 of head `row`, zero beyond D. */
export function headReader(name: string, array: GpuArray, D: number): string {
  if (isGrouped(array, D)) {
    return `
fn head_${name}(row: u32, c: u32) -> vec4f { return get_${name}(row * p.groups + c); }`;
  }
  const more = ['y', 'z', 'w'].map(
    (lane, i) =>
      `if (4u * c + ${i + 1}u < p.D) { value.${lane} = get_${name}(first + ${i + 1}u); }`,
  );
  return `
fn head_${name}(row: u32, c: u32) -> vec4f {
  let first = row * p.D + 4u * c;
  var value = vec4f(get_${name}(first), 0.0, 0.0, 0.0);
  ${more.join('\n  ')}
  return value;
}`;
}

/** `put_head_x(row, c, value)`: elements 4c … 4c + 3 of head `row`, none beyond D. */
export function headWriter(name: string, array: GpuArray, D: number): string {
  if (isGrouped(array, D)) {
    return `
fn put_head_${name}(row: u32, c: u32, value: vec4f) { put_${name}(row * p.groups + c, value); }`;
  }
  const more = ['y', 'z', 'w'].map(
    (lane, i) => `if (4u * c + ${i + 1}u < p.D) { put_${name}(first + ${i + 1}u, value.${lane}); }`,
  );
  return `
fn put_head_${name}(row: u32, c: u32, value: vec4f) {
  let first = row * p.D + 4u * c;
  put_${name}(first, value.x);
  ${more.join('\n  ')}
}`;
}
