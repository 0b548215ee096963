/** Codes and rows at the limits of what is multiplied in integers, on every instruction set. */
import { type Device, gemmQuantized, openDevice, weightDims } from '@saccade/ops';
import { afterAll, describe, expect, it } from 'vitest';
import { nativeBackend, probeNative } from './index.ts';

const native = probeNative();
if (!native.available) throw new Error(native.message);

/** The largest bf16 of an exponent: 1.9921875·2^e. */
const LARGEST = 2 - 2 ** -7;
/** The lowest and the highest code in each place of a word. */
const [LOWEST, HIGHEST] = [0, -1];

type Row = (k: number) => number;
const rows: readonly (readonly [name: string, row: Row])[] = [
  ['of the largest number of an exponent', () => LARGEST],
  ['of its negative', () => -LARGEST],
  ['whose products cancel', (k) => (k % 2 === 0 ? LARGEST : -LARGEST)],
  ['near the largest float', (k) => (k % 3 === 0 ? LARGEST * 2 ** 110 : 2 ** 104)],
  ['near the smallest', (k) => (k % 3 === 0 ? LARGEST * 2 ** -125 : 2 ** -126)],
  ['with one large number', (k) => (k === 700 ? 1 : 2 ** -6)],
  ['of zeros', () => 0],
];

const cases = ([8, 4] as const).flatMap((bits) =>
  [1027, 11_008].flatMap((K) =>
    [64, 128, K].flatMap((group) =>
      [LOWEST, HIGHEST].map((code) => [code, bits, K, group] as const),
    ),
  ),
);

describe.each(native.instructionSets)('on %s', (isa) => {
  const device: Device = openDevice(nativeBackend({ isa, threads: 2 }));
  afterAll(() => device.dispose());

  /** y of 5 rows alike and 20 columns, from codes that are all the same. */
  async function product(row: Row, code: number, K: number, bits: 4 | 8, group: number) {
    const dims = weightDims(20, K, { bits, group });
    const { P = 0, W = 0, L = 0, S = 0, N = 0 } = dims;
    const x = Float32Array.from({ length: 5 * K }, (_, i) => row(i % K));
    const inputs = {
      x: device.upload('bf16', [5, K], x),
      codes: device.upload('i32', [P, W, L], new Int32Array(P * W * L).fill(code)),
      scales: device.upload('f32', [S, N], new Float32Array(S * N).fill(2 ** -7)),
    };
    const { y } = device.forward(gemmQuantized, inputs);
    if (y === undefined) throw new Error('There is no product.');
    const half = 2 ** (bits - 1);
    const weight = (code === LOWEST ? -half : half - 1) * 2 ** -7;
    const sum = x.subarray(0, K).reduce((total, value) => total + value * weight, 0);
    return { y: await device.read(y), sum };
  }

  it.each(rows)('a row %s is multiplied right', async (_, row) => {
    for (const [code, bits, K, group] of cases) {
      const { y, sum } = await product(row, code, K, bits, group);
      for (const value of y) {
        // Of bf16, or of the cancelled products before.
        const bound = Math.max(Math.abs(sum) * 2 ** -8, Math.abs(row(0)) * K * 2 ** -16);
        expect(Math.abs(value - sum)).toBeLessThanOrEqual(bound);
      }
    }
  });

  it.each([Number.NaN, Infinity])('a row with %s has no product', async (value) => {
    for (const bits of [4, 8] as const) {
      const { y } = await product((k) => (k === 5 ? value : 1), HIGHEST, 100, bits, 64);
      for (const one of y) expect(Number.isFinite(one)).toBe(false);
    }
  });
});
