/** Rows of a matrix read and written four neighbors at a time, whatever its width and alignment. */
const FOUR = [0, 1, 2, 3] as const;

export interface EdgedLoad {
  /** Arguments of `load_<name>`, outer axis first. */
  readonly arguments: readonly [outer: string, inner: string];
  /** WGSL of where each axis ends. */
  readonly ends: readonly [outer: string, inner: string];
  /** WGSL of where the first of four elements lies. */
  readonly place: string;
  /** The array is declared `vec4`, and what is inside one of its groups ends with it. */
  readonly isVector: boolean;
}

/**
 * WGSL of `load_<name>(outer, inner) -> vec4`: four neighbors along the inner axis, 0 beyond the
 * ends. Without branches: adapters that run on a CPU pay for one as for dozens of instructions.
 */
export function edgedLoad(
  name: string,
  { arguments: [outer, inner], ends: [outerEnd, innerEnd], place, isVector }: EdgedLoad,
): string {
  const body = isVector
    ? `let isIn = (${outer} < ${outerEnd}) & (${inner} < ${innerEnd});
  return select(vec4<f32>(), get_${name}(select(0u, (${place}) >> 2u, isIn)), isIn);`
    : `let start = ${place};
  let isIn = vec4<bool>(${outer} < ${outerEnd}) &
    (vec4<u32>(${inner}) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(${innerEnd}));
  return select(vec4<f32>(), vec4<f32>(
    ${FOUR.map((i) => `get_${name}(select(0u, start + ${i}u, isIn[${i}]))`).join(',\n    ')}), isIn);`;
  return `
fn load_${name}(${outer}: u32, ${inner}: u32) -> vec4<f32> {
  ${body}
}`;
}

/**
 * {@link edgedLoad} of a row-major array [rows, width].
 *
 * @param isVector  the width is a multiple of four and the array is declared `vec4`
 */
export const rowLoader = (
  name: string,
  { rows, width, isVector }: { rows: string; width: string; isVector: boolean },
): string =>
  edgedLoad(name, {
    arguments: ['row', 'column'],
    ends: [rows, width],
    place: `row * ${width} + column`,
    isVector,
  });

/**
 * WGSL of `add_<name>(row, column, value, adds)`: writes four neighbors of a row-major array
 * [rows, width], added to what is there if `adds`; nothing beyond its edges.
 */
export function rowAdder(
  name: string,
  { rows, width, isVector }: { rows: string; width: string; isVector: boolean },
): string {
  const one = (i: number): string => `
  if (column + ${i}u < ${width}) {
    var sum = value[${i}];
    if (adds) { sum += get_${name}(start + ${i}u); }
    put_${name}(start + ${i}u, sum);
  }`;
  const body = isVector
    ? `if (column >= ${width}) { return; }
  let place = row * (${width} >> 2u) + (column >> 2u);
  var sum = value;
  if (adds) { sum += get_${name}(place); }
  put_${name}(place, sum);`
    : `let start = row * ${width} + column;${FOUR.map(one).join('')}`;
  return `
fn add_${name}(row: u32, column: u32, value: vec4<f32>, adds: bool) {
  if (row >= ${rows}) { return; }
  ${body}
}`;
}
