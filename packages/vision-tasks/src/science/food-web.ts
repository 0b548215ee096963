/**
 * A food web: arrows go from what is eaten to what eats it.
 *
 * | operation      | answer                                                                |
 * | -------------- | --------------------------------------------------------------------- |
 * | `eaters-count` | how many of the living things shown eat `of`[0]                       |
 * | `foods-count`  | how many of them `of`[0] eats                                         |
 * | `common-eater` | the only one that eats both                                           |
 * | `chain`        | arrows of the shortest path from `of`[0] to `of`[1]                    |
 * | `end-count`    | how many of them are eaten by none                                    |
 */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import { Drawing } from '../rendering/drawing.ts';
import type { MakeFigure, ScienceStyle } from './figure.ts';
import { type Habitat, habitatsOf } from './food-web-facts.ts';

/** Living things shown by difficulty. */
const shownCounts = { 1: 7, 2: 10, 3: 14 } as const;
const operationsOf = {
  1: ['eaters-count', 'foods-count', 'end-count'],
  2: ['eaters-count', 'foods-count', 'common-eater', 'chain'],
  3: ['common-eater', 'chain', 'end-count', 'eaters-count'],
} as const;

type Operation = 'eaters-count' | 'foods-count' | 'common-eater' | 'chain' | 'end-count';

interface WebQuestion {
  readonly question: string;
  readonly answer: string;
  /** Names of what decides the answer. */
  readonly of: readonly string[];
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly line: Segment;
}

type Segment = readonly [readonly [number, number], readonly [number, number]];

/** A food web with a question. */
export const foodWeb: MakeFigure = (split, difficulty, style, random) => {
  const habitat = random.pick(habitatsOf[split]);
  const living = random.shuffle(habitat.levels.flat());
  const kept = new Set(living.slice(0, shownCounts[difficulty]));
  const boxes = placeNames(habitat, kept, style, random);
  // An arrow that would run through another name is left out of the web.
  const arrows = Object.entries(habitat.eats).flatMap(([eater, foods]) =>
    foods.flatMap((food) => arrowBetween(food, eater, boxes)),
  );
  const names = [...boxes.keys()].filter((name) =>
    arrows.some(({ from, to }) => from === name || to === name),
  );
  const isInside = [...boxes.values()].every(([left, , right]) => left > 0 && right < style.width);
  if (!isInside || names.length < shownCounts[difficulty] - 2) return undefined;
  const operation = random.pick(operationsOf[difficulty]);
  const all = questionsOf[operation](names, arrows);
  // Every answer that the web allows is as likely, so that guessing does not pay.
  if (all.length === 0) return undefined;
  const wanted = random.pick(all.map(({ answer }) => answer).filter(isFirst));
  const { question, answer, of } = random.pick(all.filter(({ answer: one }) => one === wanted));
  return {
    drawing: drawWeb(habitat, names, boxes, arrows, style),
    question: `An arrow points from what is eaten to what eats it. ${question}`,
    answer,
    program: { operation, of, numbers: [] },
    evidence: of.flatMap((name) => {
      const box = boxes.get(name);
      return box === undefined ? [] : [{ name, box }];
    }),
    tolerance: 0,
    source: 'generated; common knowledge',
  };
};

const isFirst = (answer: string, index: number, answers: readonly string[]): boolean =>
  answers.indexOf(answer) === index;

const eatersOf = (name: string, arrows: readonly Arrow[]): readonly string[] =>
  arrows.filter(({ from }) => from === name).map(({ to }) => to);
const foodsOf = (name: string, arrows: readonly Arrow[]): readonly string[] =>
  arrows.filter(({ to }) => to === name).map(({ from }) => from);

/** All questions of an operation that a web answers. */
const questionsOf: Readonly<
  Record<Operation, (names: readonly string[], arrows: readonly Arrow[]) => readonly WebQuestion[]>
> = {
  'eaters-count': (names, arrows) =>
    names.map((name) => {
      const eaters = eatersOf(name, arrows);
      const question = `How many of the living things shown eat the ${name}?`;
      return { question, answer: String(eaters.length), of: [name, ...eaters] };
    }),
  'foods-count': (names, arrows) =>
    names.map((name) => {
      const foods = foodsOf(name, arrows);
      const question = `How many of the living things shown does the ${name} eat?`;
      return { question, answer: String(foods.length), of: [name, ...foods] };
    }),
  'common-eater': (names, arrows) =>
    pairsOf(names).flatMap(([first, second]) => {
      const both = eatersOf(first, arrows).filter((name) => foodsOf(name, arrows).includes(second));
      const [answer] = both;
      if (answer === undefined || both.length > 1) return [];
      const question = `Which living thing eats both the ${first} and the ${second}?`;
      return [{ question, answer, of: [first, second, answer] }];
    }),
  chain: (names, arrows) =>
    pairsOf(names).flatMap(([first, second]) => {
      const path = shortestPath(first, second, (name) => eatersOf(name, arrows));
      if (path === undefined || path.length < 3) return [];
      const question = `How many arrows does the shortest path along the arrows from the ${first} to the ${second} have?`;
      return [
        { question, answer: String(path.length - 1), of: [first, second, ...path.slice(1, -1)] },
      ];
    }),
  'end-count': (names, arrows) => {
    const ends = names.filter((name) => eatersOf(name, arrows).length === 0);
    const question = 'How many of the living things shown are eaten by none of the others?';
    return [{ question, answer: String(ends.length), of: ends }];
  },
};

const pairsOf = (names: readonly string[]): readonly (readonly [string, string])[] =>
  names.flatMap((first) =>
    names.filter((name) => name !== first).map((second) => [first, second] as const),
  );

/** The names along a shortest path; undefined where there is none. */
function shortestPath(
  from: string,
  to: string,
  next: (name: string) => readonly string[],
): readonly string[] | undefined {
  const seen = new Set([from]);
  let paths: (readonly string[])[] = [[from]];
  while (paths.length > 0) {
    const longer: (readonly string[])[] = [];
    for (const path of paths) {
      if (path.at(-1) === to) return path;
      for (const name of next(path.at(-1) ?? '')) {
        if (seen.has(name)) continue;
        seen.add(name);
        longer.push([...path, name]);
      }
    }
    paths = longer;
  }
  return undefined;
}

/** Boxes of the names in their levels, producers at the bottom. */
function placeNames(
  { levels }: Habitat,
  kept: ReadonlySet<string>,
  { width, height, size, regular }: ScienceStyle,
  random: Random,
): ReadonlyMap<string, Box> {
  const boxes = new Map<string, Box>();
  const rows = levels
    .map((level) => random.shuffle(level.filter((name) => kept.has(name))))
    .filter((row) => row.length > 0);
  rows.forEach((row, level) => {
    const y = 0.9 * height - (level / Math.max(1, rows.length - 1)) * 0.72 * height;
    row.forEach((name, column) => {
      // Rows are shifted against each other, so that long arrows pass between names.
      const x = ((column + 0.38 + 0.24 * random.uniform()) / row.length) * width;
      const half = regular.widthOf(name, size) / 2 + 0.5 * size;
      boxes.set(name, [x - half, y - 0.9 * size, x + half, y + 0.9 * size]);
    });
  });
  return boxes;
}

/** Arrows keep this distance to names that they do not join; pixels. */
const CLEAR = 6;

/** The arrow between two names that are shown, unless it runs through a third. */
function arrowBetween(from: string, to: string, boxes: ReadonlyMap<string, Box>): readonly Arrow[] {
  const [start, end] = [boxes.get(from), boxes.get(to)];
  if (start === undefined || end === undefined) return [];
  const line = between(start, end);
  const others = [...boxes.values()].filter((box) => box !== start && box !== end);
  const isFree = others.every(([left, top, right, bottom]) => {
    return !crosses(line, [left - CLEAR, top - CLEAR, right + CLEAR, bottom + CLEAR]);
  });
  return isFree ? [{ from, to, line }] : [];
}

function drawWeb(
  { name: habitat }: Habitat,
  names: readonly string[],
  boxes: ReadonlyMap<string, Box>,
  arrows: readonly Arrow[],
  style: ScienceStyle,
): Drawing {
  const { width, height, size, ink } = style;
  const drawing = new Drawing(width, height, style.background);
  const title = { typeface: style.bold, size: 1.1 * size, color: ink };
  drawing.text(`Food web of the ${habitat}`, 16, 14 + size, title);
  for (const { line } of arrows) drawArrow(drawing, line, style);
  const label = { typeface: style.regular, size, color: ink, anchor: 'middle' as const };
  for (const [name, box] of boxes) {
    if (!names.includes(name)) continue;
    drawing.rectangle(box, { fill: style.fill, stroke: ink, rx: 5 });
    const [left, , right, bottom] = box;
    drawing.text(name, (left + right) / 2, bottom - 0.55 * size, label);
  }
  return drawing;
}

/** From the edge of a box to the edge of another, along the line of their centers. */
function between(from: Box, to: Box): Segment {
  const center = (box: Box) => [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2] as const;
  const [a, b] = [center(from), center(to)];
  const [right, down] = [b[0] - a[0], b[1] - a[1]];
  const shareInside = (box: Box) =>
    Math.min((box[2] - box[0]) / 2 / Math.abs(right), (box[3] - box[1]) / 2 / Math.abs(down));
  const [leave, arrive] = [shareInside(from), 1 - shareInside(to)];
  return [
    [a[0] + right * leave, a[1] + down * leave],
    [a[0] + right * arrive, a[1] + down * arrive],
  ];
}

/** Samples of a line that are tested against a box. */
const SAMPLES = 60;

function crosses([[x0, y0], [x1, y1]]: Segment, [left, top, right, bottom]: Box): boolean {
  return Array.from({ length: SAMPLES + 1 }, (_, index) => index / SAMPLES).some((share) => {
    const [x, y] = [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share];
    return x > left && x < right && y > top && y < bottom;
  });
}

function drawArrow(drawing: Drawing, [start, end]: Segment, { ink, size }: ScienceStyle): void {
  drawing.line(start, end, { stroke: ink, 'stroke-width': 1.3 });
  const angle = Math.atan2(end[1] - start[1], end[0] - start[0]);
  const wing = (turn: number) => {
    const [x, y] = [Math.cos(angle + turn) * 0.75 * size, Math.sin(angle + turn) * 0.75 * size];
    return `${(end[0] - x).toFixed(2)} ${(end[1] - y).toFixed(2)}`;
  };
  const tip = `${end[0].toFixed(2)} ${end[1].toFixed(2)}`;
  drawing.path(`M${tip}L${wing(0.38)}L${wing(-0.38)}Z`, { fill: ink });
}
