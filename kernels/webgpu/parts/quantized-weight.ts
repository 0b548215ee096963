/**
 * WGSL over a weight in integers, as the op `quantizeWeight` lays it out: 16 rows side by side, four or
 * eight codes of a row in a word, each plus 128 or 8.
 */
export const ROWS_TOGETHER = 16;

/** How a weight of these lengths is quantized. The op has checked that they stand for a form. */
export function weightFormOf({ K = 0, W, S }: Readonly<Record<string, number>>): {
  readonly bits: 4 | 8;
  readonly group: number;
} {
  const bits = W === Math.ceil(K / 4) ? 8 : 4;
  const group = S === 1 ? K : Math.ceil(K / 64) === S ? 64 : 128;
  return { bits, group: Math.max(1, group) };
}

/** WGSL of the bit from which on code `j` of a word lies. */
export const shiftOf = (bits: 4 | 8, j: number): number =>
  bits === 8 ? 8 * j : 16 * (j % 2) + 4 * Math.floor(j / 2);

/** `codes_in(word, first) -> vec4f`: codes first … first + 3 of a word, first a multiple of 4. */
export function codesIn(bits: 4 | 8): string {
  const shifts = [0, 1, 2, 3].map((j) => `${shiftOf(bits, j)}u`).join(', ');
  // The second four of eight begin eight bits further.
  const from = bits === 8 ? '' : ' + vec4<u32>(2u * first)';
  return `
fn codes_in(word: u32, first: u32) -> vec4<f32> {
  let lower = (vec4<u32>(word) >> (vec4<u32>(${shifts})${from})) & vec4<u32>(${2 ** bits - 1}u);
  return vec4<f32>(lower) - vec4<f32>(${2 ** (bits - 1)}.0);
}`;
}
