/** Rows of a matrix read and written four neighbours at a time, whatever its width and alignment. */
const FOUR = [0, 1, 2, 3] as const;

/**
 * WGSL of `load_<name>(row, column) -> vec4`: four neighbours of a row-major array [rows, width],
 * 0 beyond the width and in rows from `rows` on.
 *
 * @param isVector  the width is a multiple of four and the array is declared `vec4`
 */
export function rowLoader(
  name: string,
  { rows, width, isVector }: { rows: string; width: string; isVector: boolean },
): string {
  const body = isVector
    ? `if (column >= ${width}) { return vec4<f32>(); }
  return get_${name}(row * (${width} >> 2u) + (column >> 2u));`
    : `let start = row * ${width} + column;
  var values: vec4<f32>;
  if (column < ${width}) { values.x = get_${name}(start); }
  if (column + 1u < ${width}) { values.y = get_${name}(start + 1u); }
  if (column + 2u < ${width}) { values.z = get_${name}(start + 2u); }
  if (column + 3u < ${width}) { values.w = get_${name}(start + 3u); }
  return values;`;
  return `
fn load_${name}(row: u32, column: u32) -> vec4<f32> {
  if (row >= ${rows}) { return vec4<f32>(); }
  ${body}
}`;
}

/**
 * WGSL of `add_<name>(row, column, value, adds)`: writes four neighbours of a row-major array
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
