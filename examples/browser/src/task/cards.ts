/** The tasks: a table with cards, and the question which symbol one of them shows. */
import { randomAt } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import { CELL, drawTable, putCard } from './draw-table.ts';
import { type Box, encodePng } from './pixel-image.ts';
import { symbols } from './symbols.ts';

export interface CardsOptions {
  /** Cells per row and per column. */
  readonly cells: number;
  /** Cards on the table; all but one are blank. */
  readonly cards: number;
  /** How many of the symbols are in use. */
  readonly symbols: number;
}

/** Facts about a task that scripts and pages know and the model does not. */
export interface CardsFacts {
  /** The cell of the card with the symbol. */
  readonly box: Box;
  /** The cells of all cards in reading order, that one among them. */
  readonly cards: readonly Box[];
}

const cardsQuestion = 'Which symbol is on a card?';

export function cellBox(cell: number, cells: number): Box {
  const left = (cell % cells) * CELL;
  const top = Math.floor(cell / cells) * CELL;
  return [left, top, left + CELL, top + CELL];
}

/** The task at an index: pure. Both splits draw from streams of their own. */
export function cardsTask(options: CardsOptions, split: Split, index: number): Task {
  const { cells, cards } = options;
  const random = randomAt(0, 'cards', cells, cards, options.symbols, split, index);
  const symbol = random.pick(symbols.slice(0, options.symbols));
  const places = random.shuffle(Array.from({ length: cells * cells }, (_, cell) => cell));
  const taken = places.slice(0, cards);
  const table = drawTable(cells, random);
  taken.forEach((cell, card) => {
    putCard(table, cellBox(cell, cells), card === 0 ? symbol : undefined, random);
  });
  const facts: CardsFacts = {
    box: cellBox(taken[0] ?? 0, cells),
    cards: [...taken].sort((a, b) => a - b).map((cell) => cellBox(cell, cells)),
  };
  const { width, height } = table;
  return {
    id: `${split}-${index}`,
    question: cardsQuestion,
    images: [{ name: 'image_0', png: encodePng(table), width, height }],
    answer: symbol.name,
    metadata: { ...facts },
  };
}

export function factsOf(task: Task): CardsFacts {
  return task.metadata as unknown as CardsFacts;
}
