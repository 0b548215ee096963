/** The layout of a linear layer's weight in integers, which `quantizeWeight` and `gemmQuantized` share. */
import type { Random } from '@saccade/core';
import type { Dims, Values } from '../op.ts';

/** Rows of a weight that lie side by side. */
export const ROWS_TOGETHER = 16;

/** How a weight is quantized. */
export interface WeightForm {
  readonly bits: 4 | 8;
  /** Elements of a row that share a scale: 64, 128, or all of them. */
  readonly group: number;
}

const GROUPS = [64, 128] as const;
const codesPerWord = (bits: number): number => 32 / bits;

/** All lengths of a weight [N, K]. A group as long as a row, or longer, is the row. */
export function weightDims(N: number, K: number, { bits, group }: WeightForm): Dims {
  return {
    N,
    K,
    P: Math.ceil(N / ROWS_TOGETHER),
    W: Math.ceil(K / codesPerWord(bits)),
    L: ROWS_TOGETHER,
    S: Math.ceil(K / group),
  };
}

/** The form that the lengths stand for; undefined if they stand for none. */
export function weightFormOf({ K, W, S }: Dims): WeightForm | undefined {
  const bits = W === Math.ceil(K / 4) ? 8 : W === Math.ceil(K / 8) ? 4 : undefined;
  const group = S === 1 ? K : GROUPS.find((size) => Math.ceil(K / size) === S);
  return bits === undefined || group === undefined ? undefined : { bits, group };
}

/** Describes the problem with the lengths in one sentence; undefined if there is none. */
export function checkWeight(dims: Dims): string | undefined {
  const { N, K, P, W, L, S } = dims;
  if (L !== ROWS_TOGETHER) return `codes has ${L} rows together, expected ${ROWS_TOGETHER}.`;
  const blocks = Math.ceil(N / ROWS_TOGETHER);
  if (P !== blocks) {
    return `codes has ${P} blocks of ${ROWS_TOGETHER} rows, expected ${blocks} for ${N} rows.`;
  }
  if (weightFormOf(dims) !== undefined) return undefined;
  return (
    `codes has ${W} words and scales ${S} rows for ${K} columns. Expected ${Math.ceil(K / 4)} words ` +
    `for 8 bits or ${Math.ceil(K / 8)} for 4, and a scale for a row, or for each ` +
    `${GROUPS.join(' or ')} columns.`
  );
}

/** The largest code: codes lie in [−limit, limit], so that zero is a code and no weight is cut off. */
export const codeLimit = (bits: 4 | 8): number => (bits === 8 ? 127 : 7);

/** Where a code lies: its word, and the bits of the word from which on. */
export function placeOf(n: number, k: number, { W }: Dims, bits: 4 | 8): [number, number] {
  const word = Math.floor(k / codesPerWord(bits));
  const at = (Math.floor(n / ROWS_TOGETHER) * W + word) * ROWS_TOGETHER + (n % ROWS_TOGETHER);
  return [at, bits === 8 ? 8 * (k % 4) : 16 * (k % 2) + 4 * Math.floor((k % 8) / 2)];
}

/** The code at a place, without the offset it is stored with. */
function codeAt(codes: ArrayLike<number>, n: number, k: number, dims: Dims): number {
  const { bits } = weightFormOf(dims) as WeightForm;
  const [word, shift] = placeOf(n, k, dims, bits);
  const stored = ((codes[word] as number) >>> shift) & (2 ** bits - 1);
  return stored - 2 ** (bits - 1);
}

/** The values [N, K] that codes and scales stand for. */
export function dequantizeWeight(
  codes: ArrayLike<number>,
  scales: ArrayLike<number>,
  dims: Dims,
): Float64Array {
  const { N, K } = dims;
  const { group } = weightFormOf(dims) as WeightForm;
  const w = new Float64Array(N * K);
  for (let n = 0; n < N; n++) {
    for (let k = 0; k < K; k++) {
      const scale = scales[Math.floor(k / group) * N + n] as number;
      w[n * K + k] = codeAt(codes, n, k, dims) * scale;
    }
  }
  return w;
}

/** Any codes, and scales that are positive or 0. */
export function sampleWeight({ P, W, L, S, N }: Dims, random: Random): Values {
  return {
    codes: Int32Array.from({ length: P * W * L }, () => random.integer(2 ** 32) | 0),
    scales: Float64Array.from(
      { length: S * N },
      () => random.pick([0, 1, 1, 1]) * random.uniform(),
    ),
  };
}
