/**
 * The register tile the log-prob kernels are made of, as WGSL text: 64 × 64 sums of products by 64
 * threads, each of 8 × 8, over any depth.
 *
 * Thread i owns columns 4x…4x+3 and 32+4x…35+4x of the left side and rows 4y…4y+3 and 32+4y…35+4y
 * of the right side, x = i mod 8, y = ⌊i/8⌋. Both sides are staged 16 deep in 8 KiB of workgroup
 * memory, with the depth outside, so that a step of the depth is four vector reads for 16 vector
 * fused multiply-adds. Groups of four lie turned by twice their quarter of the depth: neighbouring
 * threads store to different banks.
 *
 * A sum runs over the depth in order, by fused multiply-adds: its bits depend neither on the place
 * in the tile nor on which side is called left.
 */

/** Columns or rows of a tile. */
export const TILE = 64;
/** Threads of a workgroup. */
export const TILE_THREADS = 64;

export interface TileSide {
  /**
   * WGSL of four values. `depth`: of column or row 4·block + `i`, from depth k on; `width`: of
   * columns or rows 4·block… at depth k + `i`. `block` and `k` are in scope. What is beyond an
   * edge must be 0.
   */
  readonly load: (i: number) => string;
  readonly along: 'depth' | 'width';
}

const FOUR = [0, 1, 2, 3] as const;

/** Declarations at module scope; the workgroup memory is free for other use outside `tileSums`. */
export const TILE_MEMORY = `
var<workgroup> staging: array<vec4<f32>, 512>;`;

/**
 * Statements that leave `sums`: sums[2·r + h] are the thread's columns 32h + 4x… in its r-th row,
 * which is 4y + r, or 28 + 4y + r for r above 3.
 *
 * Before them `block`, `x` and `y` are declared by `tilePlace`, and `depth` gives the u32
 * expression of the depth, which must be uniform. All threads of the workgroup take part.
 */
export function tileSums(left: TileSide, right: TileSide, depth: string): string {
  const load = (name: string, { load }: TileSide): string =>
    FOUR.map((i) => `let ${name}${i} = ${load(i)};`).join('\n    ');
  const store = (name: string, { along }: TileSide, offset: number): string => {
    const turn =
      along === 'depth'
        ? `transpose(mat4x4<f32>(${name}0, ${name}1, ${name}2, ${name}3))`
        : `mat4x4<f32>(${name}0, ${name}1, ${name}2, ${name}3)`;
    const stores = FOUR.map((i) => `staging[at_store + ${offset + 16 * i}u] = ${name}[${i}];`);
    return `let ${name} = ${turn};\n    ${stores.join('\n    ')}`;
  };
  // The zeros are spelled out: inside a loop Dawn leaves a variable without initializer as it was.
  return `
  var sums = array<vec4<f32>, 16>();
  for (var start = 0u; start < ${depth}; start += 16u) {
    let k = start + 4u * (at.index & 3u);
    ${load('l', left)}
    ${load('r', right)}
    workgroupBarrier();
    let at_store = 64u * (at.index & 3u) + ((block + 2u * (at.index & 3u)) & 15u);
    ${store('l', left, 0)}
    ${store('r', right, 256)}
    workgroupBarrier();
    for (var quarter = 0u; quarter < 4u; quarter++) {
      let x_low = (x + 2u * quarter) & 15u;
      let x_high = (x + 8u + 2u * quarter) & 15u;
      let y_low = (y + 2u * quarter) & 15u;
      let y_high = (y + 8u + 2u * quarter) & 15u;
      for (var i = 0u; i < 4u; i++) {
        let step = 64u * quarter + 16u * i;
        let low = staging[step + x_low];
        let high = staging[step + x_high];
        let top = staging[256u + step + y_low];
        let bottom = staging[256u + step + y_high];
        ${FOUR.flatMap((r) => [
          `sums[${2 * r}] = fma(low, vec4<f32>(top[${r}]), sums[${2 * r}]);`,
          `sums[${2 * r + 1}] = fma(high, vec4<f32>(top[${r}]), sums[${2 * r + 1}]);`,
          `sums[${2 * r + 8}] = fma(low, vec4<f32>(bottom[${r}]), sums[${2 * r + 8}]);`,
          `sums[${2 * r + 9}] = fma(high, vec4<f32>(bottom[${r}]), sums[${2 * r + 9}]);`,
        ]).join('\n        ')}
      }
    }
  }
  workgroupBarrier();`;
}

/** Statements that declare which four columns or rows a thread loads, and its place in the tile. */
export const TILE_PLACE = `
  let block = at.index >> 2u;
  let x = at.index & 7u;
  let y = at.index >> 3u;`;

/** The row of the tile that holds a thread's r-th sums. */
export const rowOfSum = (r: number): string => `(4u * y + ${r < 4 ? r : 28 + r}u)`;

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
