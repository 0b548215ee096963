/**
 * Stickers: a pictogram in one ink on a white disk, with a label below. The color is the ink's and the kind
 * is a matter of shape alone, so that an overview shows that there are stickers, and not which.
 */
import type { Box } from '@saccade/gym';
import type { Bitmap, Canvas } from '../rendering/canvas.ts';
import type { Glyphs } from '../rendering/glyphs.ts';
import type { Color } from '../rendering/page.ts';
import { textWidth } from '../rendering/text-flow.ts';
import type { Pictogram } from '../scenes/pictograms.ts';

/** Inks by the name of their color. */
export const inks = {
  red: [208, 24, 32],
  orange: [238, 128, 8],
  green: [18, 138, 44],
  blue: [22, 82, 206],
  purple: [134, 40, 168],
  black: [38, 38, 38],
} as const satisfies Readonly<Record<string, Color>>;

/** The name of an ink. */
export type InkName = keyof typeof inks;
/** All names of inks. */
export const inkNames = Object.keys(inks) as readonly InkName[];

/** A sticker on a wall. */
export interface Sticker {
  readonly pictogram: Pictogram;
  readonly color: InkName;
  /** Two letters or digits and more. */
  readonly label: string;
  /** Diameter in whole pixels. */
  readonly size: number;
  /** Top left of the disk in whole pixels. */
  readonly left: number;
  readonly top: number;
}

/** Font size and height of labels in pixels. */
export const LABEL_SIZE = 10;
const LABEL_HEIGHT = 13;
/** Pixels between a disk and its label. */
const LABEL_GAP = 1;
/** Room that a sticker takes up beside and below its disk. */
export const LABEL_ROOM = { across: 4, below: LABEL_GAP + LABEL_HEIGHT } as const;

/** Where the disk is; pixels. */
export const diskOf = ({ left, top, size }: Sticker): Box => [left, top, left + size, top + size];

/** Where the label of a sticker is; pixels. */
export function labelOf({ label, left, top, size }: Sticker, glyphs: Glyphs): Box {
  const wide = Math.ceil(textWidth(label, glyphs)) + 4;
  const start = Math.round(left + (size - wide) / 2);
  const upper = top + size + LABEL_GAP;
  return [start, upper, start + wide, upper + LABEL_HEIGHT];
}

/** Side of the drawing that all sizes are made from. */
const SIDE = 96;
/** Share of the disk that the ink of every kind covers, as far as its shape fits. */
const INKED = 0.36;
/** Longest side of a drawing as a share of the diameter. */
const LARGEST = 0.8;
/** How much lighter and darker parts of a drawing are than its ink. */
const RELIEF = 0.9;

const white: Color = [252, 252, 250];
const edge: Color = [120, 120, 120];

const drawings = new Map<string, Promise<Buffer>>();
const bitmaps = new Map<string, Promise<Bitmap>>();

/** Puts stickers onto a canvas. Bitmaps are made once for each kind, size and color. */
export async function drawStickers(
  canvas: Canvas,
  stickers: readonly Sticker[],
  glyphs: Glyphs,
): Promise<void> {
  for (const sticker of stickers) {
    const { pictogram, color, size, left, top, label } = sticker;
    const key = `${pictogram.style}/${pictogram.name}/${color}/${size}`;
    const bitmap = bitmaps.get(key) ?? drawSticker(pictogram, color, size);
    bitmaps.set(key, bitmap);
    canvas.paste(await bitmap, left, top);
    const box = labelOf(sticker, glyphs);
    canvas.fill(box, white);
    canvas.frame(box, edge);
    canvas.text(label, box[0] + 2, box[3] - 3, glyphs, [20, 20, 20]);
  }
}

/** [SIDE, SIDE, 4] of a pictogram: its painted box in the middle of a square. */
function drawingOf(pictogram: Pictogram): Promise<Buffer> {
  const key = `${pictogram.style}/${pictogram.name}`;
  const known = drawings.get(key) ?? drawSquare(pictogram);
  drawings.set(key, known);
  return known;
}

async function drawSquare({ body, view, painted }: Pictogram): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  const [left, top, right, bottom] = painted;
  const long = view * Math.max(right - left, bottom - top);
  const [x, y] = [(view * (left + right) - long) / 2, (view * (top + bottom) - long) / 2];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
    `width="${SIDE}" height="${SIDE}" viewBox="${x} ${y} ${long} ${long}">${body}</svg>`;
  return await sharp(Buffer.from(svg)).ensureAlpha().raw().toBuffer();
}

/** A sticker of a diameter. */
async function drawSticker(pictogram: Pictogram, color: InkName, size: number): Promise<Bitmap> {
  const { default: sharp } = await import('sharp');
  const drawing = await drawingOf(pictogram);
  let covered = 0;
  for (let at = 3; at < drawing.length; at += 4) covered += (drawing[at] ?? 0) / 255;
  const filled = covered / SIDE ** 2;
  const disk = Math.PI / 4;
  const side = Math.max(
    8,
    Math.round(size * Math.min(LARGEST, Math.sqrt((INKED * disk) / filled))),
  );
  const small = await sharp(drawing, { raw: { width: SIDE, height: SIDE, channels: 4 } })
    .resize(side, side)
    .raw()
    .toBuffer();
  const pixels = new Uint8Array(size * size * 3);
  const cover = new Uint8Array(size * size);
  drawDisk(pixels, cover, size);
  const offset = Math.floor((size - side) / 2);
  const mean = meanGray(small);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const from = (y * side + x) * 4;
      const share = (small[from + 3] ?? 0) / 255;
      if (share === 0) continue;
      const to = ((y + offset) * size + x + offset) * 3;
      const tone = grayAt(small, from) / 255 - mean;
      for (let channel = 0; channel < 3; channel++) {
        const own = inks[color][channel] ?? 0;
        const toward = tone > 0 ? 255 : 0;
        const ink = own + (toward - own) * Math.min(0.75, Math.abs(tone) * RELIEF);
        pixels[to + channel] = Math.round((pixels[to + channel] ?? 0) * (1 - share) + ink * share);
      }
    }
  }
  return { width: size, height: size, pixels, cover };
}

function grayAt(pixels: Uint8Array, at: number): number {
  return 0.3 * (pixels[at] ?? 0) + 0.59 * (pixels[at + 1] ?? 0) + 0.11 * (pixels[at + 2] ?? 0);
}

/** The mean gray of what is painted, from 0 to 1. */
function meanGray(pixels: Uint8Array): number {
  let [sum, weight] = [0, 0];
  for (let at = 0; at < pixels.length; at += 4) {
    const share = pixels[at + 3] ?? 0;
    sum += (grayAt(pixels, at) / 255) * share;
    weight += share;
  }
  return weight === 0 ? 0 : sum / weight;
}

/** A white disk with a gray edge, its coverage smooth. */
function drawDisk(pixels: Uint8Array, cover: Uint8Array, size: number): void {
  const radius = size / 2;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const far = Math.hypot(x + 0.5 - radius, y + 0.5 - radius);
      const at = y * size + x;
      cover[at] = Math.round(255 * Math.min(1, Math.max(0, radius - far + 0.5)));
      const paint = far > radius - 1.2 ? edge : white;
      for (let channel = 0; channel < 3; channel++) pixels[at * 3 + channel] = paint[channel] ?? 0;
    }
  }
}
