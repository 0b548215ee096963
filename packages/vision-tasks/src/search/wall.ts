/** A wall of photographs, typeset pages and maps, as large as a display of 4K or 8K. */
import { type Random, randomAt } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { speechesOf } from '../documents/speeches.ts';
import { drawMap } from '../maps/draw-map.ts';
import { mapStyle } from '../maps/map-style.ts';
import { planMap } from '../maps/plan-map.ts';
import { type Bitmap, Canvas } from '../rendering/canvas.ts';
import { glyphsOf } from '../rendering/glyphs.ts';
import type { Color } from '../rendering/page.ts';
import { setLines } from '../rendering/text-flow.ts';
import { typefacesOf } from '../rendering/typefaces.ts';
import { drawBackground } from '../scenes/photographs.ts';

/** Width and height of a panel in pixels. */
const [WIDE, TALL] = [960, 720] as const;
/** Panels of each kind that a split has; walls are made of them. */
const kinds = { photograph: 10, page: 6, map: 6 } as const;
type PanelKind = keyof typeof kinds;

const papers: Readonly<Record<Split, Color>> = { train: [250, 250, 248], heldOut: [248, 241, 224] };
const inks: Readonly<Record<Split, Color>> = { train: [30, 30, 30], heldOut: [54, 34, 18] };

/** A panel with what it shows. */
interface Panel {
  readonly bitmap: Bitmap;
  readonly source: string;
}

const panels = new Map<string, Promise<Panel>>();

/** A wall without anything on it, and where its panels come from. */
export async function drawWall(
  split: Split,
  width: number,
  height: number,
  random: Random,
): Promise<{ readonly canvas: Canvas; readonly sources: readonly string[] }> {
  const canvas = new Canvas(width, height, papers[split]);
  const sources = new Set<string>();
  for (let top = 0; top < height; top += TALL) {
    for (let left = 0; left < width; left += WIDE) {
      const kind = random.pick(Object.keys(kinds) as PanelKind[]);
      const { bitmap, source } = await panelOf(split, kind, random.integer(kinds[kind]));
      canvas.paste(bitmap, left, top);
      sources.add(source);
    }
  }
  return { canvas, sources: [...sources].sort() };
}

/** A panel of a split, drawn once. */
function panelOf(split: Split, kind: PanelKind, number: number): Promise<Panel> {
  const key = `${split}/${kind}/${number}`;
  const known = panels.get(key) ?? draw[kind](split, randomAt(0, 'panel', split, kind, number));
  panels.set(key, known);
  return known;
}

const draw: Readonly<Record<PanelKind, (split: Split, random: Random) => Promise<Panel>>> = {
  async photograph(split, random) {
    const background = await drawBackground(split, WIDE, TALL, random);
    return { bitmap: background, source: `photograph ${background.name}` };
  },
  async page(split, random) {
    const speech = random.pick(speechesOf(split));
    const glyphs = await glyphsOf(random.pick(typefacesOf[split]), 400, 13);
    const page = new Canvas(WIDE, TALL, papers[split]);
    const words = speech.text.split(' ').slice(random.integer(600));
    const width = (WIDE - 120) / 2;
    let next = 0;
    for (const left of [40, 80 + width]) {
      const setWord = (text: string, x: number, y: number) =>
        page.text(text, x, y, glyphs, inks[split]);
      const column = { left, top: 40, width, bottom: TALL - 40, leading: 18 };
      const lines = setLines(words.slice(next), column, glyphs, setWord);
      next += lines.reduce((sum, line) => sum + line.words.length, 0);
    }
    return { bitmap: page, source: 'speeches.json' };
  },
  async map(split, random) {
    const { default: sharp } = await import('sharp');
    let plan = planMap(split, 2, random);
    while (plan === undefined) plan = planMap(split, 2, random);
    const style = { ...mapStyle(split, 2, random), width: WIDE, height: TALL };
    const svg = drawMap(plan, style).drawing.toSvg();
    const pixels = await sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
    return { bitmap: { width: WIDE, height: TALL, pixels }, source: plan.map.source };
  },
};
