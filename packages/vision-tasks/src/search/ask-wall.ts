/** Questions about stickers on a wall: an attribute of one, or the relation of two, as in V*. */
import type { Random } from '@saccade/core';
import type { Box } from '@saccade/gym';
import type { Glyphs } from '../rendering/glyphs.ts';
import type { Pictogram } from '../scenes/pictograms.ts';
import { diskOf, inkNames, LABEL_ROOM, labelOf, type Sticker } from './stickers.ts';

/**
 * How the answer follows from the stickers:
 *
 * | operation  | answer                                                                     |
 * | ---------- | -------------------------------------------------------------------------- |
 * | `color`    | the color of the only one of kind `of`                                     |
 * | `label`    | the text on its label                                                      |
 * | `relation` | the quadrant in which the only one of kind `kind` lies, seen from `of`     |
 */
export interface WallProgram {
  readonly operation: WallOperation;
  readonly of: string;
  readonly kind?: string;
}

/** Kinds of questions. */
export const wallOperations = ['color', 'label', 'relation'] as const;
/** A kind of question. */
export type WallOperation = (typeof wallOperations)[number];

/** Stickers with a question. */
export interface WallQuestion {
  readonly question: string;
  readonly answer: string;
  readonly program: WallProgram;
  readonly stickers: readonly Sticker[];
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
}

/** How many stickers are on a wall, and how large. */
export interface WallPlan {
  readonly width: number;
  readonly height: number;
  readonly count: number;
  /** Smallest and largest diameter in pixels. */
  readonly sizes: readonly [number, number];
}

/** Diameters are drawn in steps, so that stickers are drawn once. */
const STEP = 2;
/** Room around a sticker within its cell, as a share of the largest diameter. */
const PLAY = 0.5;
/** Centers that are compared differ at least by so many of the largest diameters in both directions. */
const CLEAR = 3;
/** Characters that are not mistaken for another, in type of few pixels either. */
const characters = [...'ACEFHJKLMNPRTUVWXY3479'];
const LABEL = 3;

/** Draws stickers with a question; undefined where the drawn ones are not clear. */
export function askWall(
  kinds: readonly Pictogram[],
  { width, height, count, sizes: [least, most] }: WallPlan,
  operation: WallOperation,
  glyphs: Glyphs,
  random: Random,
): WallQuestion | undefined {
  const [first, second, ...others] = random.shuffle(kinds);
  if (first === undefined || second === undefined || others.length === 0) return undefined;
  const places = cellsOf(width, height, most, random);
  if (places.length < count) return undefined;
  const stickers = places.slice(0, count).map(([x, y, play], index): Sticker => {
    const pictogram = index === 0 ? first : index === 1 ? second : random.pick(others);
    const size = least + STEP * random.integer(Math.floor((most - least) / STEP) + 1);
    return {
      pictogram,
      color: random.pick(inkNames),
      label: random.shuffle(characters).slice(0, LABEL).join(''),
      size,
      left: x + random.integer(play + most - size + 1),
      top: y + random.integer(play + most - size + 1),
    };
  });
  const [one, other] = stickers;
  if (one === undefined || other === undefined) return undefined;
  const named = { name: first.name, box: diskOf(one) };
  // In no order that tells what is asked about.
  const shown = random.shuffle(stickers);
  switch (operation) {
    case 'color': {
      const listed = random.shuffle(inkNames);
      return {
        question:
          `What color is the only ${first.name}: ` +
          `${listed.slice(0, -1).join(', ')}, or ${listed.at(-1)}?`,
        answer: one.color,
        program: { operation, of: first.name },
        stickers: shown,
        evidence: [named],
      };
    }
    case 'label':
      return {
        question: `What is written on the label of the only ${first.name}?`,
        answer: one.label,
        program: { operation, of: first.name },
        stickers: shown,
        evidence: [{ name: 'label', box: labelOf(one, glyphs) }, named],
      };
    case 'relation': {
      const [across, down] = [
        centerOf(other)[0] - centerOf(one)[0],
        centerOf(other)[1] - centerOf(one)[1],
      ];
      if (Math.min(Math.abs(across), Math.abs(down)) < CLEAR * most) return undefined;
      const answer = `${down < 0 ? 'upper' : 'lower'} ${across < 0 ? 'left' : 'right'}`;
      return {
        question:
          `Seen from the only ${first.name}, where is the only ${second.name}: ` +
          'upper left, upper right, lower left, or lower right?',
        answer,
        program: { operation, of: first.name, kind: second.name },
        stickers: shown,
        evidence: [named, { name: second.name, box: diskOf(other) }],
      };
    }
  }
}

const centerOf = ({ left, top, size }: Sticker): readonly [number, number] => [
  left + size / 2,
  top + size / 2,
];

/** Cells of a wall in random order: left, top, and how far a sticker of the largest size may be moved. */
function cellsOf(
  width: number,
  height: number,
  most: number,
  random: Random,
): readonly (readonly [number, number, number])[] {
  const play = Math.round(most * PLAY);
  const wide = most + play + 2 * LABEL_ROOM.across;
  const tall = most + play + LABEL_ROOM.below + 2;
  const [across, down] = [Math.floor(width / wide), Math.floor(height / tall)];
  const cells = Array.from({ length: across * down }, (_, cell) => {
    const [column, row] = [cell % across, Math.floor(cell / across)];
    return [column * wide + LABEL_ROOM.across, row * tall, play] as const;
  });
  return random.shuffle(cells);
}
