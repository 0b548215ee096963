/** Draws the images of `needle`: cards on a dark table under colored light, one holds a digit. */
import type { Random } from '@saccade/core';
import { DIGIT_SIZE, type Digits } from '../mnist.ts';

/** Side of a card, pixels; its middle, of a digit's size, is what a look at it shows. */
export const CARD_SIZE = 56;
/** The texture of table and cards is made of blocks of this side, pixels: too fine for an overview. */
const BLOCK = 4;
const TABLE = 20;
/** Red rises by this from left to right, green from top to bottom: colored light. */
const WASH = 150;
/** Blue, so that cards stand out from the table; red and green in the middle: room for the ink. */
const PAPER = [127, 127, 230] as const;
/**
 * Ink is a fine hatching, pixel by pixel lighter and darker than the paper by this in red and green.
 * Its mean is the paper's, so that it vanishes from an overview and stays as clear in a look.
 */
const INK = 100;
/** Gray levels of texture at most: more would leave the range of bytes. */
export const MAX_TEXTURE = 15;
const MARGIN = (CARD_SIZE - DIGIT_SIZE) / 2;

/** Interleaved RGB. */
export interface PixelImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Left, top, right, bottom; pixels, right and bottom exclusive. */
export type Box = readonly [number, number, number, number];

/** Ink of a shape made of real strokes that is not a digit: quarters of four digits, turned. */
export function drawDecoy(digits: Digits, random: Random): Uint8Array {
  const half = DIGIT_SIZE / 2;
  const ink = new Uint8Array(DIGIT_SIZE * DIGIT_SIZE);
  const places = random.shuffle([0, 1, 2, 3]);
  for (let quarter = 0; quarter < 4; quarter++) {
    const source = digits.pixels(random.integer(digits.count));
    const from = places[quarter] as number;
    const turns = random.integer(4);
    for (let y = 0; y < half; y++) {
      for (let x = 0; x < half; x++) {
        let [sx, sy] = [x, y];
        for (let turn = 0; turn < turns; turn++) [sx, sy] = [sy, half - 1 - sx];
        const read = (Math.floor(from / 2) * half + sy) * DIGIT_SIZE + (from % 2) * half + sx;
        const write = (Math.floor(quarter / 2) * half + y) * DIGIT_SIZE + (quarter % 2) * half + x;
        ink[write] = source[read] as number;
      }
    }
  }
  return ink;
}

/** The middle of a card alone, as a look at it shows it. */
export function drawLook(ink: Uint8Array, texture: number, random: Random): PixelImage {
  const [width, height] = [DIGIT_SIZE, DIGIT_SIZE];
  const image = { width, height, pixels: new Uint8Array(width * height * 3) };
  drawCard(image, [0, 0, width, height], 0, ink, texture, random);
  return image;
}

/**
 * Prints a digit over a cell of the table: plain ink, as large as the cell, so that the overview, in
 * which a cell becomes a digit's size, shows it.
 */
export function printLarge({ pixels, width }: PixelImage, cell: Box, ink: Uint8Array): void {
  const [left, top, right, bottom] = cell;
  const scale = (right - left) / DIGIT_SIZE;
  const [red, green, blue] = PAPER;
  for (let y = top; y < bottom; y++) {
    const row = Math.floor((y - top) / scale) * DIGIT_SIZE;
    for (let x = left; x < right; x++) {
      const coverage = (ink[row + Math.floor((x - left) / scale)] as number) / 255;
      const at = (y * width + x) * 3;
      pixels[at] = red - INK * coverage;
      pixels[at + 1] = green - INK * coverage;
      pixels[at + 2] = blue;
    }
  }
}

/** A large print alone, at the size the overview gives it. */
export function drawPrint(ink: Uint8Array): PixelImage {
  const [width, height] = [DIGIT_SIZE, DIGIT_SIZE];
  const image = { width, height, pixels: new Uint8Array(width * height * 3) };
  printLarge(image, [0, 0, width, height], ink);
  return image;
}

/** The table without cards: colored light unless it is dark, a block texture, a few scratches. */
export function drawTable(
  size: number,
  texture: number,
  random: Random,
  isLit: boolean,
): PixelImage {
  const wash = isLit ? WASH : 0;
  const pixels = new Uint8Array(size * size * 3);
  for (let top = 0; top < size; top += BLOCK) {
    const start = top * size * 3;
    for (let left = 0; left < size; left += BLOCK) {
      const light = TABLE + texture * (random.uniform() * 2 - 1);
      const red = Math.round(light + (wash * left) / size);
      const green = Math.round(light + (wash * top) / size);
      const blue = Math.round(light);
      for (let x = left; x < Math.min(left + BLOCK, size); x++) {
        const at = start + x * 3;
        pixels[at] = red;
        pixels[at + 1] = green;
        pixels[at + 2] = blue;
      }
    }
    // The rows of a block are alike.
    for (let y = top + 1; y < Math.min(top + BLOCK, size); y++) {
      pixels.copyWithin(y * size * 3, start, start + size * 3);
    }
  }
  const image = { width: size, height: size, pixels };
  for (let scratch = 0; scratch < 6; scratch++) drawScratch(image, random);
  return image;
}

/** Puts a card onto a table, its ink into the box in its middle. */
export function putCard(
  table: PixelImage,
  box: Box,
  ink: Uint8Array,
  texture: number,
  random: Random,
): void {
  drawCard(table, box, MARGIN, ink, texture, random);
}

function drawCard(
  { pixels, width }: PixelImage,
  [left, top, right, bottom]: Box,
  margin: number,
  ink: Uint8Array,
  texture: number,
  random: Random,
): void {
  const shade = random.integer(21) - 10;
  // An overview keeps a few gray levels of the ink's edges, which drown in the texture.
  const columns = (right - left + 2 * margin) / BLOCK;
  const rows = (bottom - top + 2 * margin) / BLOCK;
  const light = Array.from({ length: rows * columns }, () =>
    Math.round(shade + texture * (random.uniform() * 2 - 1)),
  );
  const [red, green, blue] = PAPER;
  for (let y = top - margin; y < bottom + margin; y++) {
    const block = Math.floor((y - top + margin) / BLOCK) * columns;
    for (let x = left - margin; x < right + margin; x++) {
      const [ix, iy] = [x - left, y - top];
      const isInside = ix >= 0 && iy >= 0 && ix < DIGIT_SIZE && iy < DIGIT_SIZE;
      const coverage = isInside ? (ink[iy * DIGIT_SIZE + ix] as number) / 255 : 0;
      const paper = light[block + Math.floor((ix + margin) / BLOCK)] as number;
      const hatching = Math.round(((x + y) % 2 === 0 ? INK : -INK) * coverage);
      const at = (y * width + x) * 3;
      pixels[at] = red + paper + hatching;
      pixels[at + 1] = green + paper + hatching;
      pixels[at + 2] = blue + paper;
    }
  }
}

/** A thin faint line across the table. */
function drawScratch({ pixels, width, height }: PixelImage, random: Random): void {
  const [x0, x1] = [random.integer(width), random.integer(width)];
  const brightness = 8 + random.integer(16);
  for (let y = 0; y < height; y++) {
    const x = Math.round(x0 + ((x1 - x0) * y) / height);
    const at = (y * width + Math.min(x, width - 1)) * 3;
    for (let c = 0; c < 3; c++) {
      pixels[at + c] = Math.min(255, (pixels[at + c] as number) + brightness);
    }
  }
}
