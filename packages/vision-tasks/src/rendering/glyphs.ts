/** The letters of a typeface at one size as small bitmaps, so that pages of small text are set fast. */
import { handsOf, type TypefaceName, typeface } from './typefaces.ts';

/** Printable ASCII. */
const FIRST = 32;
const COUNT = 95;
/** Places between two pixels that a letter may start at. */
const PHASES = 4;

/** The letters of a typeface in one weight and size. */
export interface Glyphs {
  /** Font size in pixels. */
  readonly size: number;
  /** Width and height of every bitmap; pixels. */
  readonly cell: readonly [width: number, height: number];
  /** From the top of a bitmap to the baseline; pixels. */
  readonly ascent: number;
  /** From the left edge of a bitmap to where its letter starts; pixels. */
  readonly lead: number;
  /** How far the next letter is; pixels. */
  advance(letter: string): number;
  /**
   * [cell] coverage from 0 to 255 of a letter that starts `lead` right of the bitmap's left edge.
   *
   * @param phase  how much farther right it starts, in [0, 1)
   */
  bitmap(letter: string, phase: number): Uint8Array;
}

const open = new Map<string, Promise<Glyphs>>();

/** Draws the printable ASCII letters once. Weights: 400 is regular, 700 is bold. */
export function glyphsOf(name: TypefaceName, weight: 400 | 700, size: number): Promise<Glyphs> {
  const key = `${name}-${weight}-${size}`;
  const known = open.get(key) ?? drawGlyphs(name, weight, size);
  open.set(key, known);
  return known;
}

async function drawGlyphs(name: TypefaceName, weight: 400 | 700, size: number): Promise<Glyphs> {
  const { default: sharp } = await import('sharp');
  const { outline, widthOf } = typeface(name, weight);
  const letters = Array.from({ length: COUNT }, (_, i) => String.fromCharCode(FIRST + i));
  const advances = letters.map((letter) => widthOf(letter, size));
  // Letters of a hand reach far beyond their own places.
  const isHand = [...handsOf.train, ...handsOf.heldOut].includes(name);
  const [lead, tail] = isHand ? [Math.ceil(size * 0.4), Math.ceil(size * 0.5)] : [2, 3];
  const width = Math.ceil(Math.max(...advances)) + lead + tail;
  const [height, ascent] = isHand
    ? [Math.ceil(size * 2.6), Math.ceil(size * 1.5)]
    : [Math.ceil(size * 1.6), Math.ceil(size * 1.15)];
  const paths = letters.flatMap((letter, index) =>
    Array.from({ length: PHASES }, (_, phase) => {
      const x = phase * width + lead + phase / PHASES;
      return `<path d="${outline(letter, x, index * height + ascent, size)}"/>`;
    }),
  );
  const page = `width="${PHASES * width}" height="${COUNT * height}"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${page} fill="#fff">${paths.join('')}</svg>`;
  const pixels = await sharp(Buffer.from(svg))
    .flatten({ background: '#000' })
    .extractChannel(0)
    .raw()
    .toBuffer();
  const bitmaps = Array.from({ length: COUNT * PHASES }, (_, index) => {
    const [top, left] = [Math.floor(index / PHASES) * height, (index % PHASES) * width];
    const bitmap = new Uint8Array(width * height);
    for (let row = 0; row < height; row++) {
      const start = (top + row) * PHASES * width + left;
      bitmap.set(pixels.subarray(start, start + width), row * width);
    }
    return bitmap;
  });
  const indexOf = (letter: string): number => {
    const index = letter.charCodeAt(0) - FIRST;
    if (index >= 0 && index < COUNT) return index;
    throw new RangeError(
      `A page has printable ASCII letters alone, not ${JSON.stringify(letter)}.`,
    );
  };
  return {
    size,
    cell: [width, height],
    ascent,
    lead,
    advance: (letter) => advances[indexOf(letter)] ?? 0,
    bitmap(letter, phase) {
      const step = Math.min(PHASES - 1, Math.floor(phase * PHASES));
      return bitmaps[indexOf(letter) * PHASES + step] ?? new Uint8Array(width * height);
    },
  };
}
