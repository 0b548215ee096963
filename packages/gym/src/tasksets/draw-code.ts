/**
 * Draws QR codes of a few decimal digits: version 1 (21 × 21 modules), error correction M, mask 0.
 *
 * ISO/IEC 18004:2015, §7 and §8; the test reads them with OpenCV.
 */
import type { Box, PixelImage } from './draw-needle.ts';

/** Modules per side. */
const SIDE = 21;
/** White modules around the code, as the standard wants them. */
const QUIET = 4;
/** Side of a module, pixels. */
const MODULE = 3;
/** Side of a printed code with its white margin, pixels. */
export const CODE_SIZE = (SIDE + 2 * QUIET) * MODULE;
const DATA_BYTES = 16;
const CHECK_BYTES = 10;
/** Level M and mask 0, with their check bits and the mask of the standard; most significant first. */
const FORMAT = 0b101010000010010;
const FORMAT_BITS = 15;
const [DARK, LIGHT] = [16, 240];

/** Bits as they are collected, most significant first. */
function bitsOf(value: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => (value >> (count - 1 - i)) & 1);
}

/** The 16 data bytes of one to three digits: mode, count, digits, end, padding. */
function dataBytes(digits: string): readonly number[] {
  const bits = [
    ...bitsOf(0b0001, 4),
    ...bitsOf(digits.length, 10),
    ...bitsOf(Number(digits), 1 + 3 * digits.length),
    ...bitsOf(0, 4),
  ];
  while (bits.length % 8 > 0) bits.push(0);
  const bytes: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    bytes.push(bits.slice(at, at + 8).reduce((sum, bit) => 2 * sum + bit, 0));
  }
  for (let i = 0; bytes.length < DATA_BYTES; i++) bytes.push(i % 2 === 0 ? 0xec : 0x11);
  return bytes;
}

/** Product in GF(256) modulo x⁸ + x⁴ + x³ + x² + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/** Reed-Solomon check bytes: the rest of data·xⁿ divided by Π (x − 2ⁱ). */
function checkBytes(data: readonly number[]): readonly number[] {
  // Without the leading 1.
  const divisor = new Uint8Array(CHECK_BYTES);
  divisor[CHECK_BYTES - 1] = 1;
  let root = 1;
  for (let i = 0; i < CHECK_BYTES; i++) {
    for (let at = 0; at < CHECK_BYTES; at++) {
      const next = at + 1 < CHECK_BYTES ? (divisor[at + 1] as number) : 0;
      divisor[at] = multiply(divisor[at] as number, root) ^ next;
    }
    root = multiply(root, 2);
  }
  const rest = new Array<number>(CHECK_BYTES).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() as number);
    rest.push(0);
    divisor.forEach((coefficient, i) => {
      rest[i] = (rest[i] as number) ^ multiply(coefficient, factor);
    });
  }
  return rest;
}

/**
 * The modules of a code, row by row: 1 dark, 0 light.
 *
 * @param digits one to three decimal digits; others do not fit what is drawn here
 */
function codeModules(digits: string): Uint8Array {
  const modules = new Uint8Array(SIDE * SIDE);
  const isSet = new Uint8Array(SIDE * SIDE);
  const put = (row: number, column: number, value: number): void => {
    if (row < 0 || column < 0 || row >= SIDE || column >= SIDE) return;
    modules[row * SIDE + column] = value;
    isSet[row * SIDE + column] = 1;
  };
  for (let i = 0; i < SIDE; i++) {
    put(6, i, (i + 1) % 2);
    put(i, 6, (i + 1) % 2);
  }
  for (const [row, column] of [
    [3, 3],
    [3, SIDE - 4],
    [SIDE - 4, 3],
  ] as const) {
    for (let y = -4; y <= 4; y++) {
      for (let x = -4; x <= 4; x++) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        put(row + y, column + x, ring === 2 || ring === 4 ? 0 : 1);
      }
    }
  }
  putFormat(put);
  const data = dataBytes(digits);
  const bits = [...data, ...checkBytes(data)].flatMap((byte) => bitsOf(byte, 8));
  let next = 0;
  // Two columns at a time from the right, upwards and downwards in turn; the timing column is left out.
  for (let pair = 0; pair < (SIDE - 1) / 2; pair++) {
    const right = SIDE - 1 - 2 * pair - (2 * pair < SIDE - 7 ? 0 : 1);
    for (let step = 0; step < SIDE; step++) {
      const row = pair % 2 === 0 ? SIDE - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (isSet[row * SIDE + column] === 1) continue;
        const mask = (row + column) % 2 === 0 ? 1 : 0;
        modules[row * SIDE + column] = (bits[next++] ?? 0) ^ mask;
      }
    }
  }
  return modules;
}

/** Both copies of the format, and the module beside them that is always dark. */
function putFormat(put: (row: number, column: number, value: number) => void): void {
  const skipTiming = (at: number): number => (at < 6 ? at : at + 1);
  bitsOf(FORMAT, FORMAT_BITS).forEach((bit, i) => {
    if (i < 7) put(8, skipTiming(i), bit);
    else put(skipTiming(14 - i), 8, bit);
    if (i < 7) put(SIDE - 1 - i, 8, bit);
    else put(8, SIDE - FORMAT_BITS + i, bit);
  });
  put(SIDE - 8, 8, 1);
}

/** Prints a code into an image, its white margin included; `left` and `top` are of the margin. */
export function printCode(image: PixelImage, left: number, top: number, digits: string): Box {
  const modules = codeModules(digits);
  const { pixels, width } = image;
  for (let y = 0; y < CODE_SIZE; y++) {
    const row = Math.floor(y / MODULE) - QUIET;
    for (let x = 0; x < CODE_SIZE; x++) {
      const column = Math.floor(x / MODULE) - QUIET;
      const isInside = row >= 0 && column >= 0 && row < SIDE && column < SIDE;
      const isDark = isInside && modules[row * SIDE + column] === 1;
      pixels.fill(
        isDark ? DARK : LIGHT,
        ((top + y) * width + left + x) * 3,
        ((top + y) * width + left + x) * 3 + 3,
      );
    }
  }
  return [left, top, left + CODE_SIZE, top + CODE_SIZE];
}
