/**
 * Draws a table: a grid of cells under colored light, some of them cards, one of which shows a
 * symbol.
 */
import type { Random } from '@saccade/core';
import { invisibleInk } from './invisible-ink.ts';
import type { Box, PixelImage } from './pixel-image.ts';
import type { CardSymbol } from './symbols.ts';

/** Side of a cell, pixels; what the model is given of it at full resolution is one token. */
export const CELL = 28;
/** Between a card and the edge of its cell. */
const MARGIN = 3;
/** The texture is made of blocks of this side, pixels: as fine as an overview can show. */
const BLOCK = 4;
const TABLE = 40;
/** Red rises by this from left to right, green from top to bottom: colored light. */
const WASH = 120;
/** Blue, so that cards stand out from the table; red and green in the middle: room for the ink. */
const PAPER = [127, 127, 225] as const;
/**
 * Ink is a fine hatching, pixel by pixel lighter and darker than the paper by this, without what would
 * remain of it in an image of half the size: see `invisibleInk`.
 */
const INK = 80;
/** Gray levels of texture. */
const TEXTURE = 14;
/** Gray levels of a camera's noise on every pixel of a card: more than rounding keeps of the ink. */
const NOISE = 6;

/** An image of `cells` × `cells` cells without a card. */
export function drawTable(cells: number, random: Random): PixelImage {
  const size = cells * CELL;
  const pixels = new Uint8Array(size * size * 3);
  const light = drawTexture(size, random);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const shade = TABLE + light(x, y);
      const at = (y * size + x) * 3;
      pixels[at] = shade + (WASH * x) / size;
      pixels[at + 1] = shade + (WASH * y) / size;
      pixels[at + 2] = shade;
    }
  }
  return { width: size, height: size, pixels };
}

/** Puts a card into a cell; without a symbol it is blank. */
export function putCard(
  { pixels, width }: PixelImage,
  [left, top, right, bottom]: Box,
  symbol: CardSymbol | undefined,
  random: Random,
): void {
  const light = drawTexture(CELL, random);
  const scale = (CELL / 2 - MARGIN - 2) * (0.85 + 0.15 * random.uniform());
  const middleX = (left + right - 1) / 2 + random.integer(3) - 1;
  const middleY = (top + bottom - 1) / 2 + random.integer(3) - 1;
  const hatching = new Float64Array(width * width);
  for (let y = top + MARGIN; y < bottom - MARGIN; y++) {
    for (let x = left + MARGIN; x < right - MARGIN; x++) {
      const [u, v] = [(x - middleX) / scale, (y - middleY) / scale];
      const isInk = Math.max(Math.abs(u), Math.abs(v)) <= 1 && symbol?.covers(u, v) === true;
      if (isInk) hatching[y * width + x] = (x + y) % 2 === 0 ? INK : -INK;
      const noise = NOISE * (random.uniform() * 2 - 1);
      const shade = light(x - left, y - top) + noise;
      const at = (y * width + x) * 3;
      pixels[at] = PAPER[0] + shade;
      pixels[at + 1] = PAPER[1] + shade;
      pixels[at + 2] = PAPER[2] + shade;
    }
  }
  if (symbol === undefined) return;
  invisibleInk(hatching, width).forEach((ink, i) => {
    const change = Math.round(ink);
    pixels[i * 3] = (pixels[i * 3] ?? 0) + change;
    pixels[i * 3 + 1] = (pixels[i * 3 + 1] ?? 0) + change;
  });
}

/** Gray levels of a block texture by place. */
function drawTexture(size: number, random: Random): (x: number, y: number) => number {
  const columns = Math.ceil(size / BLOCK);
  const levels = Int8Array.from({ length: columns * columns }, () =>
    Math.round(TEXTURE * (random.uniform() * 2 - 1)),
  );
  return (x, y) => levels[Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK)] ?? 0;
}
