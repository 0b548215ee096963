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

/** The names that slices bound side by side have. */
const sliceNames = (name: string, slices: readonly GpuArray[]): readonly string[] =>
  slices.length === 1 ? [name] : slices.map((_, i) => `${name}${i}`);

export function slicedArrays(
  name: string,
  slices: readonly GpuArray[],
): Readonly<Record<string, GpuArray>> {
  const names = sliceNames(name, slices);
  return Object.fromEntries(slices.map((slice, i) => [names[i], slice]));
}

export function slicedUses(
  name: string,
  slices: readonly GpuArray[],
  D: number,
): Readonly<Record<string, ArrayUse>> {
  const names = sliceNames(name, slices);
  return Object.fromEntries(slices.map((slice, i) => [names[i], headUse('read', slice, D)]));
}

/** `head_x(row, c)` as above over slices, each of `p.headsEach` heads. */
export function slicedReader(name: string, slices: readonly GpuArray[], D: number): string {
  const names = sliceNames(name, slices);
  const readers = slices.map((slice, i) => headReader(names[i] ?? name, slice, D)).join('');
  if (slices.length === 1) return readers;
  const choices = names
    .slice(0, -1)
    .map(
      (slice, i) =>
        `if (row < ${i + 1}u * p.headsEach) { return head_${slice}(row - ${i}u * p.headsEach, c); }`,
    );
  const last = slices.length - 1;
  return `${readers}
fn head_${name}(row: u32, c: u32) -> vec4f {
  ${choices.join('\n  ')}
  return head_${names[last]}(row - ${last}u * p.headsEach, c);
}`;
}

export interface PlacedHeads {
  /** Array in workgroup memory of places among all heads, `NONE` for none. */
  readonly places: string;
  /** Place of the first head that is bound. */
  readonly first?: string;
  readonly factor?: string;
}

/** `<called>(i, c)`: group c of the head of x at `places[i]`; zero where there is none. */
export const placedReader = (
  called: string,
  name: string,
  { places, first = '0u', factor }: PlacedHeads,
): string => `
fn ${called}(i: u32, c: u32) -> vec4f {
  let place = ${places}[i];
  let isThere = place != NONE;
  let value = head_${name}(select(0u, place - ${first}, isThere), c);
  return select(vec4f(), value${factor === undefined ? '' : ` * ${factor}`}, isThere);
}`;

/**
 * Numbers of shaders that bind a slice of the rows' heads, [firstHead, endHead), and all keys' heads
 * in slices of headsEach.
 */
export const SLICE_NUMBERS = { firstHead: 'u32', endHead: 'u32', headsEach: 'u32' } as const;

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
