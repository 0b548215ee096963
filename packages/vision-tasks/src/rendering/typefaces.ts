/**
 * Text as outlines of open typefaces from npm, so that an image does not depend on the fonts of the
 * machine that draws it.
 */
/// <reference path="./opentype.d.ts" />
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Split } from '@saccade/gym';
import * as opentype from 'opentype.js';

/** The npm package of each typeface. */
const packageOf = {
  caveat: '@fontsource/caveat',
  'indie-flower': '@fontsource/indie-flower',
  lora: '@fontsource/lora',
  merriweather: '@fontsource/merriweather',
  'open-sans': '@fontsource/open-sans',
  'patrick-hand': '@fontsource/patrick-hand',
  roboto: '@fontsource/roboto',
  'shadows-into-light': '@fontsource/shadows-into-light',
} as const;

/** A typeface of this package. */
export type TypefaceName = keyof typeof packageOf;

/** The typefaces of each split; no typeface is in both. */
export const typefacesOf: Readonly<Record<Split, readonly TypefaceName[]>> = {
  train: ['roboto', 'open-sans'],
  heldOut: ['lora', 'merriweather'],
};

/** Typefaces that look written by hand, in regular weight alone; none is in both splits. */
export const handsOf: Readonly<Record<Split, readonly TypefaceName[]>> = {
  train: ['caveat', 'patrick-hand'],
  heldOut: ['indie-flower', 'shadows-into-light'],
};

/** A typeface in one weight. */
export interface Typeface {
  readonly name: TypefaceName;
  /** Width of a line of text in pixels at a font size in pixels. */
  widthOf(text: string, size: number): number;
  /** SVG path data of a line of text whose baseline starts at (x, y). */
  outline(text: string, x: number, y: number, size: number): string;
}

// Node gives the CommonJS build as the default export; bundlers take the module, which has only names.
const { parse } = opentype.default ?? opentype;
const require = createRequire(import.meta.url);
const open = new Map<string, Typeface>();

/** Reads a typeface once. Weights: 400 is regular, 700 is bold. */
export function typeface(name: TypefaceName, weight: 400 | 700 = 400): Typeface {
  const key = `${name}-${weight}`;
  const known = open.get(key);
  if (known !== undefined) return known;
  const path = require.resolve(`${packageOf[name]}/files/${name}-latin-${weight}-normal.woff`);
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  const font = parse(buffer.slice(byteOffset, byteOffset + byteLength));
  // Glyph by glyph: opentype.js cannot apply every substitution table of these fonts.
  const advance = (character: string, size: number): number =>
    (font.charToGlyph(character).advanceWidth * size) / font.unitsPerEm;
  const made: Typeface = {
    name,
    widthOf: (text, size) => [...text].reduce((sum, letter) => sum + advance(letter, size), 0),
    outline(text, x, y, size) {
      let left = x;
      let data = '';
      for (const letter of text) {
        data += font.charToGlyph(letter).getPath(left, y, size).commands.map(pathData).join('');
        left += advance(letter, size);
      }
      return data;
    },
  };
  open.set(key, made);
  return made;
}

/**
 * A command as SVG path data. The library's own `toPathData` leaves out the space before a number
 * that rounds to −0, which merges two numbers into one.
 */
function pathData(command: opentype.Command): string {
  if (command.type === 'Z') return 'Z';
  const { type, x, y } = command;
  const controls =
    type === 'C'
      ? [command.x1, command.y1, command.x2, command.y2]
      : type === 'Q'
        ? [command.x1, command.y1]
        : [];
  return type + [...controls, x, y].map((value) => value.toFixed(2)).join(' ');
}
