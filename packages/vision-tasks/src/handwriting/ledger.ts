/** A printed ledger that is filled in by hand: amounts in real digits, remarks in a hand's typeface. */
import type { Random } from '@saccade/core';
import type { Box, Split } from '@saccade/gym';
import { speechesOf } from '../documents/speeches.ts';
import { Canvas } from '../rendering/canvas.ts';
import { type Glyphs, glyphsOf } from '../rendering/glyphs.ts';
import type { Color } from '../rendering/page.ts';
import { textWidth } from '../rendering/text-flow.ts';
import { handsOf, type TypefaceName, typefacesOf } from '../rendering/typefaces.ts';
import { type Pictogram, pictogramsOf } from '../scenes/pictograms.ts';
import { putNumber, writeNumber } from './written-number.ts';

/** A row of a ledger. */
export interface LedgerRow {
  /** What was bought, printed. */
  readonly item: string;
  /** Whole dollars, in handwritten digits. */
  readonly amount: number;
  /** A word in a hand's typeface. */
  readonly remark: string;
  readonly itemBox: Box;
  readonly amountBox: Box;
  readonly remarkBox: Box;
}

/** A drawn ledger. */
export interface Ledger {
  readonly canvas: Canvas;
  readonly rows: readonly LedgerRow[];
  readonly typeface: TypefaceName;
  readonly hand: TypefaceName;
}

/** Width and height of a page, columns of rows, and rows in each; by difficulty 1 to 3. */
const pages = [
  [640, 560, 1, 9],
  [1180, 900, 2, 16],
  [1760, 1700, 3, 34],
] as const;
/** Font sizes of print and hand, and height of a row; pixels. */
const [PRINT, HAND, ROW] = [17, 22, 46] as const;
/** Fewest and most digits of an amount. */
const DIGITS = [2, 4] as const;

const papers: Readonly<Record<Split, readonly Color[]>> = {
  train: [
    [255, 255, 255],
    [243, 247, 243],
  ],
  heldOut: [
    [252, 245, 230],
    [240, 240, 248],
  ],
};
const pens: Readonly<Record<Split, readonly Color[]>> = {
  train: [
    [24, 48, 140],
    [30, 30, 34],
  ],
  heldOut: [
    [16, 92, 72],
    [110, 28, 40],
  ],
};
const ink: Color = [40, 40, 40];
const rule: Color = [176, 176, 176];

/** Draws a ledger of a split. */
export async function drawLedger(split: Split, level: number, random: Random): Promise<Ledger> {
  const [width, height, columns, down] = pages[level - 1] ?? pages[0];
  const typeface = random.pick(typefacesOf[split]);
  const hand = random.pick(handsOf[split]);
  const pen = random.pick(pens[split]);
  const canvas = new Canvas(width, height, random.pick(papers[split]));
  const print = await glyphsOf(typeface, 400, PRINT);
  const bold = await glyphsOf(typeface, 700, PRINT);
  const written = await glyphsOf(hand, 400, HAND);
  const margin = 30;
  canvas.text('Ledger of purchases', margin, margin + 20, await glyphsOf(typeface, 700, 24), ink);
  const items = ledgerItems(pictogramsOf(split), columns * down, random);
  const amounts = distinctAmounts(items.length, random);
  const remarks = random.shuffle(wordsOf(split));
  const wide = (width - 2 * margin) / columns;
  const top = margin + 48;
  const rows: LedgerRow[] = [];
  for (const [index, item] of items.entries()) {
    const left = margin + Math.floor(index / down) * wide;
    const [start, end, remarkAt] = [left + 6, left + wide * 0.62, left + wide * 0.66];
    if (index % down === 0) {
      canvas.text('Item', start, top + 22, bold, ink);
      canvas.text('Dollars', end - textWidth('Dollars', bold), top + 22, bold, ink);
      canvas.text('Remark', remarkAt, top + 22, bold, ink);
    }
    const lower = top + 32 + (1 + (index % down)) * ROW;
    canvas.fill([left, lower, left + wide - 12, lower + 1], rule);
    const baseline = lower - 12;
    const amount = amounts[index] ?? 0;
    const number = writeNumber(String(amount), split, random);
    const place = [Math.round(end - number.width - random.integer(12)), lower - 36] as const;
    const remark = remarks[index] ?? '';
    rows.push({
      item,
      amount,
      remark,
      itemBox: canvas.text(item, start, baseline, print, ink),
      amountBox: putNumber(canvas, number, split, place, pen),
      remarkBox: scrawl(canvas, remark, remarkAt + random.integer(10), baseline, written, pen),
    });
  }
  return { canvas, rows, typeface, hand };
}

const scrawl = (
  canvas: Canvas,
  text: string,
  x: number,
  y: number,
  glyphs: Glyphs,
  pen: Color,
): Box => canvas.text(text, x, y, glyphs, pen);

/** Different things to buy: each kind comes in several sizes where there are more rows than kinds. */
function ledgerItems(
  kinds: readonly Pictogram[],
  count: number,
  random: Random,
): readonly string[] {
  const sizes = ['small', 'large', 'old', 'new'];
  const names = kinds.flatMap(({ name }) => sizes.map((size) => `${size} ${name}`));
  return random.shuffle(names).slice(0, count);
}

function distinctAmounts(count: number, random: Random): readonly number[] {
  const amounts = new Set<number>();
  while (amounts.size < count) {
    const digits = DIGITS[0] + random.integer(DIGITS[1] - DIGITS[0] + 1);
    amounts.add(10 ** (digits - 1) + random.integer(9 * 10 ** (digits - 1)));
  }
  return [...amounts];
}

/** Different words of a split's speeches, in lower case. */
function wordsOf(split: Split): readonly string[] {
  const words = speechesOf(split).flatMap(({ text }) => text.split(' '));
  return [...new Set(words)].filter((word) => /^[a-z]{5,8}$/.test(word)).sort();
}
