/** How documents look: sizes by difficulty, and styles of which none is in both splits. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { type Glyphs, glyphsOf } from '../rendering/glyphs.ts';
import type { Color } from '../rendering/page.ts';
import { type TypefaceName, typefacesOf } from '../rendering/typefaces.ts';

/** Everything that a document's look depends on besides its words. */
export interface DocumentStyle {
  readonly width: number;
  readonly height: number;
  /** Around the text; pixels. */
  readonly margin: number;
  readonly typeface: TypefaceName;
  readonly regular: Glyphs;
  readonly bold: Glyphs;
  readonly title: Glyphs;
  /** From baseline to baseline; pixels. */
  readonly leading: number;
  readonly paper: Color;
  readonly ink: Color;
  /** Whether lines of text are spaced out to the same width. */
  readonly isJustified: boolean;
  /** Whether every second row of a table is shaded, or rows have rules between them. */
  readonly isBanded: boolean;
}

/** Width, height and font size by difficulty 1 to 4: text gets smaller in the overview. */
const sizes = [
  [560, 720, 18],
  [760, 980, 17],
  [1000, 1280, 16],
  [1280, 1640, 16],
] as const;

const papers: Readonly<Record<Split, readonly Color[]>> = {
  train: [
    [255, 255, 255],
    [246, 246, 244],
  ],
  heldOut: [
    [251, 243, 223],
    [238, 243, 247],
  ],
};
const inks: Readonly<Record<Split, Color>> = { train: [25, 25, 25], heldOut: [52, 32, 18] };

/** Draws a style of a split at a difficulty from 1 to 4. */
export function documentStyle(split: Split, level: number, random: Random): Promise<DocumentStyle> {
  return styleOfSize(split, sizes[level - 1] ?? sizes[0], random);
}

/** Draws a style of a split for pages of a width, a height and a font size in pixels. */
export async function styleOfSize(
  split: Split,
  [width, height, size]: readonly [number, number, number],
  random: Random,
): Promise<DocumentStyle> {
  const name = random.pick(typefacesOf[split]);
  const paper = random.pick(papers[split]);
  return {
    width,
    height,
    margin: Math.round(width * 0.06) + random.integer(12),
    typeface: name,
    regular: await glyphsOf(name, 400, size),
    bold: await glyphsOf(name, 700, size),
    title: await glyphsOf(name, 700, Math.round(size * 1.3)),
    leading: Math.round(size * (1.35 + 0.1 * random.integer(3))),
    paper,
    ink: inks[split],
    isJustified: split === 'heldOut',
    isBanded: split === 'train',
  };
}

/** Width of a text in pixels. */
export function textWidth(text: string, glyphs: Glyphs): number {
  return [...text].reduce((sum, letter) => sum + glyphs.advance(letter), 0);
}
