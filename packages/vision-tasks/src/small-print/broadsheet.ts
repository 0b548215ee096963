/**
 * A broadsheet: a masthead and photographs that show from afar how the sheet lies, and scattered blocks
 * of print so small that words, lines and paragraphs cover at most a ten-thousandth of it.
 */
import type { Random } from '@saccade/core';
import type { Box, Split } from '@saccade/gym';
import { type Table, tablesOf } from '../charts/tables.ts';
import { type Speech, speechesOf } from '../documents/speeches.ts';
import { Canvas } from '../rendering/canvas.ts';
import { boxAround } from '../rendering/drawing.ts';
import { type Glyphs, glyphsOf } from '../rendering/glyphs.ts';
import { largeText } from '../rendering/large-text.ts';
import type { Color } from '../rendering/page.ts';
import {
  around,
  brokenLines,
  type PrintedLine,
  setLines,
  textWidth,
} from '../rendering/text-flow.ts';
import { type TypefaceName, typeface, typefacesOf } from '../rendering/typefaces.ts';
import { drawBackground } from '../scenes/photographs.ts';

/** A value of a country that a paragraph states. */
interface Fact {
  readonly measure: string;
  readonly unit: string;
  readonly value: string;
}

/** A paragraph of small print. */
export interface Paragraph {
  readonly lines: readonly PrintedLine[];
  readonly box: Box;
  /** The values that it states, where it is an entry of a register. */
  readonly facts: readonly Fact[];
}

/** A drawn sheet. */
export interface Broadsheet {
  readonly canvas: Canvas;
  readonly paragraphs: readonly Paragraph[];
  /** Lines of large print; a question never begins like one of them. */
  readonly headlines: readonly string[];
  readonly typeface: TypefaceName;
  /** Where words and photographs come from. */
  readonly sources: readonly string[];
}

/** How large a sheet is, and how much is on it. */
export interface SheetPlan {
  readonly width: number;
  readonly height: number;
  /** Font size of the small print in pixels. */
  readonly typeSize: number;
  /** Blocks of small print, at most one in a cell. */
  readonly blocks: number;
}

/** Cells across and down; the first row is the masthead. */
const [ACROSS, DOWN] = [8, 6] as const;
/** Share of the other cells that have a photograph. */
const PHOTOGRAPHS = 0.2;
/** Fewest and most paragraphs of a block. */
const PARAGRAPHS = [3, 6] as const;
/** Share of paragraphs that are entries of a register of countries. */
const ENTRIES = 0.3;
/** Fewest and most words of a paragraph of a speech. */
const WORDS = [4, 14] as const;

const papers: Readonly<Record<Split, readonly Color[]>> = {
  train: [
    [255, 255, 255],
    [244, 244, 240],
  ],
  heldOut: [
    [250, 243, 226],
    [238, 242, 246],
  ],
};
const inks: Readonly<Record<Split, Color>> = { train: [20, 20, 20], heldOut: [50, 30, 16] };

/** Draws a sheet of a split. */
export async function drawBroadsheet(
  split: Split,
  { width, height, typeSize, blocks }: SheetPlan,
  random: Random,
): Promise<Broadsheet> {
  const name = random.pick(typefacesOf[split]);
  const [wide, tall] = [width / ACROSS, height / DOWN];
  const small = await glyphsOf(name, 400, typeSize);
  const ink = inks[split];
  const canvas = new Canvas(width, height, random.pick(papers[split]));
  const speeches = random.shuffle(speechesOf(split));
  const headlines = await drawMasthead(canvas, speeches, name, tall, ink);
  const cells = random.shuffle(
    Array.from({ length: ACROSS * (DOWN - 1) }, (_, cell): Box => {
      const [left, top] = [(cell % ACROSS) * wide, (1 + Math.floor(cell / ACROSS)) * tall];
      return [left, top, left + wide, top + tall];
    }),
  );
  const photographs = Math.round(PHOTOGRAPHS * cells.length);
  const photos: string[] = [];
  for (const [left, top] of cells.slice(0, photographs)) {
    const [across, down] = [Math.round(wide * 0.86), Math.round(tall * 0.86)];
    const background = await drawBackground(split, across, down, random);
    canvas.paste(background, Math.round(left + wide * 0.07), Math.round(top + tall * 0.07));
    photos.push(background.name);
  }
  const texts = paragraphTexts(split, speeches, random);
  const paragraphs = cells
    .slice(photographs, photographs + blocks)
    .flatMap((cell) => drawBlock(canvas, cell, texts, small, ink, random));
  const sources = ['speeches.json', 'gapminder.json', ...new Set(photos)];
  return { canvas, paragraphs, headlines, typeface: name, sources };
}

/** Draws a title across the sheet and a line below it; gives their texts. */
async function drawMasthead(
  canvas: Canvas,
  [speech]: readonly Speech[],
  name: TypefaceName,
  tall: number,
  ink: Color,
): Promise<readonly string[]> {
  const title = `State of the Union, ${speech?.year}`;
  const under = `${speech?.president} to both Houses of Congress, with notes and a register`;
  const margin = canvas.width * 0.03;
  const lines: readonly [string, 400 | 700, number, number][] = [
    [title, 700, 0.45, 0.55],
    [under, 400, 0.16, 0.85],
  ];
  for (const [text, weight, share, baseline] of lines) {
    const size = Math.round(tall * share);
    const bitmap = await largeText(text, typeface(name, weight), size, ink);
    canvas.paste(bitmap, Math.round(margin), Math.round(tall * baseline - size * 0.95));
  }
  canvas.fill([margin, tall * 0.94, canvas.width - margin, tall * 0.96], ink);
  return [title, under];
}

/** The text of a paragraph before it is set. */
type ParagraphText = Pick<Paragraph, 'facts'> & { readonly words: readonly string[] };

/** Texts of paragraphs, each once; the two kinds are mixed. */
function paragraphTexts(
  split: Split,
  speeches: readonly Speech[],
  random: Random,
): () => ParagraphText {
  const sentences = speeches.flatMap(({ text }) =>
    text
      .split(/(?<=[a-z]{2}[.!?]) (?=[A-Z])/)
      .map((sentence) => sentence.split(' '))
      .filter(({ length }) => length >= WORDS[0] && length <= WORDS[1]),
  );
  const queues = { speech: random.shuffle(sentences), entry: random.shuffle(entriesOf(split)) };
  return () => {
    const entry = random.uniform() < ENTRIES ? queues.entry.pop() : undefined;
    if (entry !== undefined) return entry;
    const words = queues.speech.pop();
    // Sheets are smaller than the speeches of a split together.
    if (words === undefined) throw new RangeError('A sheet needs more sentences than there are.');
    return { words, facts: [] };
  };
}

/** Entries such as “Norway 1997: life expectancy 78.2, fertility 1.8.” */
function entriesOf(split: Split): readonly ParagraphText[] {
  const tables = ['life-expectancy', 'fertility']
    .map((id) => tablesOf(split).find((table) => table.id === id))
    .filter((table): table is Table => table !== undefined);
  const [first] = tables;
  return (first?.rows ?? []).flatMap(({ name }) =>
    (first?.columns ?? []).map((year, column) => {
      const facts = tables.map(({ measure, unit, rows }): Fact => {
        const value = rows.find((row) => row.name === name)?.values[column] ?? Number.NaN;
        return { measure, unit, value: value.toFixed(1) };
      });
      const stated = facts.map(({ measure, value }) => `${measure} ${value}`).join(', ');
      return { words: `${name} ${year}: ${stated}.`.split(' '), facts };
    }),
  );
}

/** Sets paragraphs below each other at some place of a cell. */
function drawBlock(
  canvas: Canvas,
  [left, top, right, bottom]: Box,
  next: () => ParagraphText,
  glyphs: Glyphs,
  ink: Color,
  random: Random,
): readonly Paragraph[] {
  const leading = Math.round(glyphs.size * 1.1);
  const count = PARAGRAPHS[0] + random.integer(PARAGRAPHS[1] - PARAGRAPHS[0] + 1);
  const x = Math.round(left + (right - left) * (0.08 + 0.4 * random.uniform()));
  let y = Math.round(top + (bottom - top) * (0.08 + 0.6 * random.uniform()));
  const paragraphs: Paragraph[] = [];
  for (let made = 0; made < count; made++) {
    const { words, facts } = next();
    const whole = textWidth(words.join(' '), glyphs);
    // One to three lines of about the same length, as notes are set.
    const width = Math.min((right - left) * 0.45, (whole / (1 + random.integer(3))) * 1.1);
    const tall = brokenLines(words, width, glyphs).length * leading;
    if (y + tall > bottom) break;
    const setWord = (text: string, at: number, baseline: number) =>
      canvas.text(text, at, baseline, glyphs, ink);
    const lines = setLines(words, { left: x, top: y, width, leading }, glyphs, setWord);
    paragraphs.push({ lines, box: around(lines), facts });
    y += lines.length * leading + Math.round(glyphs.size * 1.2);
  }
  return paragraphs;
}

/** The box in whole pixels, and its share of the sheet. */
export function shareOf(box: Box, { width, height }: Canvas): { box: Box; share: number } {
  const whole = boxAround([box], width, height);
  const [left, top, right, bottom] = whole;
  return { box: whole, share: ((right - left) * (bottom - top)) / (width * height) };
}
