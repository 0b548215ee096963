/** Sets words in lines of a column, and says where each word and line lies. */
import type { Box } from '@saccade/gym';
import type { Glyphs } from './glyphs.ts';

/** A word as it is printed. */
interface PrintedWord {
  readonly text: string;
  readonly box: Box;
}

/** A line of words as it is printed. */
export interface PrintedLine {
  readonly text: string;
  readonly words: readonly PrintedWord[];
  readonly box: Box;
}

/** A column that words are set in. */
export interface Column {
  readonly left: number;
  /** The top of the first line. */
  readonly top: number;
  readonly width: number;
  /** Lines that do not end above it are left out; without it, all words are set. */
  readonly bottom?: number;
  /** From baseline to baseline; pixels. */
  readonly leading: number;
}

/** Sets one word: with its baseline at y, and returns the box that it takes up. */
export type SetWord = (text: string, x: number, y: number) => Box;

/** Width of a text in pixels. */
export function textWidth(text: string, glyphs: Glyphs): number {
  let sum = 0;
  for (const letter of text) sum += glyphs.advance(letter);
  return sum;
}

/** Breaks words into lines that are at most so wide; a longer word has a line of its own. */
export function brokenLines(
  words: readonly string[],
  width: number,
  glyphs: Glyphs,
): readonly (readonly string[])[] {
  const space = glyphs.advance(' ');
  const lines: string[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const needed = textWidth(word, glyphs);
    if (used + space + needed > width) {
      lines.push([word]);
      used = needed;
    } else {
      lines.at(-1)?.push(word);
      used += space + needed;
    }
  }
  return lines;
}

/** Sets words flush left. */
export function setLines(
  words: readonly string[],
  { left, top, width, bottom = Number.POSITIVE_INFINITY, leading }: Column,
  glyphs: Glyphs,
  setWord: SetWord,
): readonly PrintedLine[] {
  const lines: PrintedLine[] = [];
  let baseline = Math.round(top + glyphs.size * 0.78);
  for (const row of brokenLines(words, width, glyphs)) {
    if (baseline + glyphs.size * 0.22 > bottom) break;
    let x = left;
    const printed = row.map((text): PrintedWord => {
      const box = setWord(text, x, baseline);
      x = box[2] + glyphs.advance(' ');
      return { text, box };
    });
    lines.push({ text: row.join(' '), words: printed, box: around(printed) });
    baseline += leading;
  }
  return lines;
}

/** The box around boxes, not rounded. */
export function around(parts: readonly { readonly box: Box }[]): Box {
  const edge = (index: 0 | 1 | 2 | 3) => parts.map(({ box }) => box[index]);
  return [Math.min(...edge(0)), Math.min(...edge(1)), Math.max(...edge(2)), Math.max(...edge(3))];
}
