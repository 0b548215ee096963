/**
 * Part of the periodic table, with numbers that are looked up, compared and added.
 *
 * | operation                    | answer                                                        |
 * | ---------------------------- | ------------------------------------------------------------- |
 * | `mass`, `electronegativity`  | that number of the element                                    |
 * | `most-electronegative`, `least-electronegative` | symbol of that element of the ones named   |
 * | `count-above`                | how many of the elements shown have a higher electronegativity than `numbers`[0] |
 * | `mass-sum`                   | sum of `numbers`[i] times the mass of the i-th element        |
 */
import { readFileSync } from 'node:fs';
import type { Box, Split } from '@saccade/gym';
import { Drawing } from '../rendering/drawing.ts';
import type { MakeFigure, ScienceProgram } from './figure.ts';

/** An element of the main body of the table. */
interface Element {
  readonly number: number;
  readonly symbol: string;
  readonly name: string;
  /** Standard atomic weight, two decimals. */
  readonly mass: number;
  /** Pauling's scale. */
  readonly electronegativity: number;
  readonly period: number;
  readonly group: number;
}

/** Elements up to this atomic number are in train, the others in the held-out split. */
const LAST_OF_TRAIN = 36;
const columnCounts = { 1: 5, 2: 8, 3: 13 } as const;
const operationsOf = {
  1: ['mass', 'electronegativity', 'count-above'],
  2: ['mass', 'electronegativity', 'most-electronegative', 'least-electronegative', 'mass-sum'],
  3: ['most-electronegative', 'least-electronegative', 'mass-sum', 'count-above'],
} as const;
/** Counts above this are a matter of patience, not of looking. */
const MOST_COUNTED = 12;

let file: readonly Element[] | undefined;

function elementsOf(split: Split): readonly Element[] {
  file ??= JSON.parse(
    readFileSync(new URL('../../data/elements.json', import.meta.url), 'utf8'),
  ) as readonly Element[];
  return file.filter(({ number }) => number <= LAST_OF_TRAIN === (split === 'train'));
}

/** Part of the periodic table with a question. */
export const elements: MakeFigure = (split, difficulty, style, random) => {
  const columns = columnCounts[difficulty];
  const start = 1 + random.integer(18 - columns + 1);
  const shown = elementsOf(split).filter(({ group }) => group >= start && group < start + columns);
  const operation = random.pick(operationsOf[difficulty]);
  const [first, second, third] = random.shuffle(shown);
  if (first === undefined || second === undefined || third === undefined) return undefined;
  const { width, height, size, ink } = style;
  const drawing = new Drawing(width, height, style.background);
  const rows = [...new Set(shown.map(({ period }) => period))].sort((a, b) => a - b);
  const side = Math.min((width - 40) / columns, (height - 70) / rows.length, 5.2 * size);
  const left = (width - side * columns) / 2;
  const top = 50 + (height - 70 - side * rows.length) / 2;
  const caption = 'atomic number, symbol, atomic mass, electronegativity';
  drawing.text(caption, 20, 14 + size, { typeface: style.regular, size, color: ink });
  const boxes = new Map<string, Box>();
  for (const element of shown) {
    const x = left + (element.group - start) * side;
    const y = top + rows.indexOf(element.period) * side;
    const box: Box = [x + 2, y + 2, x + side - 2, y + side - 2];
    boxes.set(element.symbol, box);
    drawing.rectangle(box, { fill: style.fill, stroke: ink, rx: 3 });
    const small = Math.min(0.8 * size, side * 0.19);
    const write = (text: string, below: number, isSymbol = false) =>
      drawing.text(text, x + side / 2, y + below * side, {
        typeface: isSymbol ? style.bold : style.regular,
        size: isSymbol ? 1.7 * small : small,
        color: isSymbol ? style.accent : ink,
        anchor: 'middle',
      });
    write(String(element.number), 0.23);
    write(element.symbol, 0.52, true);
    write(element.mass.toFixed(2), 0.72);
    write(element.electronegativity.toFixed(2), 0.91);
  }
  const make = (
    question: string,
    answer: string,
    of: readonly Element[],
    numbers: readonly number[] = [],
  ) => {
    const program: ScienceProgram = { operation, of: of.map(({ symbol }) => symbol), numbers };
    const evidence = program.of.flatMap((name) => {
      const box = boxes.get(name);
      return box === undefined ? [] : [{ name, box }];
    });
    const source = 'periodic-table data.json';
    return { drawing, question, answer, program, evidence, tolerance: 0, source };
  };
  switch (operation) {
    case 'mass':
    case 'electronegativity': {
      const words = operation === 'mass' ? 'atomic mass' : 'electronegativity';
      const question = `What ${words} does the table give for ${first.name}? Give two decimals.`;
      return make(question, first[operation].toFixed(2), [first]);
    }
    case 'count-above': {
      const bound = Number(first.electronegativity.toFixed(1));
      if (shown.some(({ electronegativity }) => electronegativity === bound)) return undefined;
      const above = shown.filter(({ electronegativity }) => electronegativity > bound);
      if (above.length === 0 || above.length > MOST_COUNTED) return undefined;
      const question = `How many of the elements shown have an electronegativity above ${bound.toFixed(1)}?`;
      return make(question, String(above.length), above, [bound]);
    }
    case 'most-electronegative':
    case 'least-electronegative': {
      const some = random.shuffle(shown).slice(0, difficulty === 3 ? 6 : 4);
      const sign = operation === 'most-electronegative' ? -1 : 1;
      const [best, next] = [...some].sort(
        (a, b) => sign * (a.electronegativity - b.electronegativity),
      );
      if (best === undefined || best.electronegativity === next?.electronegativity) {
        return undefined;
      }
      const degree = sign < 0 ? 'highest' : 'lowest';
      const names = some.map(({ name }) => name);
      const listed = `${names.slice(0, -1).join(', ')}, or ${names.at(-1)}`;
      const question = `Which of these has the ${degree} electronegativity: ${listed}? Answer with its symbol.`;
      return make(question, best.symbol, some);
    }
    case 'mass-sum': {
      const parts = difficulty === 3 ? [first, second, third] : [first, second];
      const numbers = parts.map(() => 1 + random.integer(4));
      const hundredths = parts.reduce(
        (sum, { mass }, index) => sum + Math.round(mass * 100) * (numbers[index] ?? 0),
        0,
      );
      const counted = parts.map(({ name }, index) =>
        numbers[index] === 1 ? `1 atom of ${name}` : `${numbers[index]} atoms of ${name}`,
      );
      const comma = counted.length > 2 ? ',' : '';
      const listed = `${counted.slice(0, -1).join(', ')}${comma} and ${counted.at(-1)}`;
      return make(
        `What is the total atomic mass of ${listed}? Give two decimals.`,
        (hundredths / 100).toFixed(2),
        parts,
        numbers,
      );
    }
  }
};
