/**
 * `needle`: which digit is hidden in the image?
 *
 * A large table holds one or two cards. One shows a real handwritten digit at native size, the other
 * a shape cut from strokes of digits. In the overview that fits the model's context one sees where
 * cards lie, but not what they show: the answer needs a look at the original.
 */
import {
  ConfigError,
  importOptional,
  type Random,
  randomAt,
  span,
  spanElsewhere,
} from '@saccade/core';
import { count, flag, type SettingsOf } from '@saccade/core/settings';
import { encode } from 'fast-png';
import { z } from 'zod';
import { defineTaskSet } from '../define-task-set.ts';
import { DIGIT_SIZE, mnist } from '../mnist.ts';
import type { Split, Task, TaskSet } from '../task.ts';
import {
  type Box,
  CARD_SIZE,
  drawDecoy,
  drawTable,
  MAX_TEXTURE,
  type PixelImage,
  putCard,
} from './draw-needle.ts';

/** Settings of a table of cards; task sets that add to it share them. */
export const needleSettings = z.strictObject({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of layouts, digits and textures.',
  }),
  cells: count({
    min: 2,
    max: 32,
    default: 4,
    unit: 'cells',
    about: 'Cells per side of the table; a card lies in the middle of its cell.',
  }),
  pitch: count({
    min: CARD_SIZE,
    max: 1024,
    default: 112,
    unit: 'pixels',
    about: 'Side of a cell; even.',
  }),
  cards: count({
    min: 1,
    max: 1023,
    default: 2,
    unit: 'cards',
    about: 'Most cards on a table, the digit included; every number from 1 is as likely.',
  }),
  texture: count({
    min: 0,
    max: MAX_TEXTURE,
    default: 12,
    unit: 'gray levels',
    about: 'Amplitude of the texture of table and cards.',
  }),
  isLit: flag({
    default: true,
    about: 'Whether colored light falls on the table; it shows places and orientation.',
  }),
});

/** Settings of the tables of `needle`; lengths in pixels of the original image. */
export type NeedleOptions = SettingsOf<typeof needleSettings>;

/**
 * The question of every task of `needle` and its variants. A tokenizer of a small policy is
 * trained on it, so another wording is another policy.
 */
export const needleQuestion = 'Which digit is hidden in the picture?';

/** Facts of a task, in its metadata. */
export interface NeedleFacts {
  /** Where the digit is, the middle of its card; pixels of the original. */
  readonly box: Box;
  /** The middles of the other cards. */
  readonly decoys: readonly Box[];
  /** The middles of all cells, row by row. */
  readonly places: readonly Box[];
}

const TASKS = 1_000_000;

/** The default table: 4 × 4 cells of 112 pixels, one or two cards. */
export const defaultNeedle: NeedleOptions = needleSettings.parse({});

/**
 * The task set of the main recipe: find the card with a digit on a large table, and read it. The
 * model's overview is too coarse for that, so it has to crop. A million tasks per split;
 * `metadata` holds `NeedleFacts`.
 */
export const needle = defineTaskSet({
  name: 'needle',
  description:
    'Find the card with a digit on a large table and read it; the overview is too coarse.',
  settings: needleSettings,
  create(options) {
    checkNeedle(options);
    return { size: () => TASKS, task: (split, index) => makeTask(options, split, index) };
  },
});

/** The task set with options that differ from the defaults. */
export function needleWith(options: Partial<NeedleOptions> = {}): TaskSet {
  return needle.with(options);
}

/** @throws ConfigError for settings that do not go together */
export function checkNeedle({ cells, pitch, cards }: NeedleOptions): void {
  if (pitch % 2 !== 0) {
    throw new ConfigError('pitch', `taskSet.pitch: expected an even number, got ${pitch}.`);
  }
  const most = cells * cells - 1;
  if (cards > most) {
    throw new ConfigError(
      'cards',
      `taskSet.cards: expected 1 to ${most} on ${cells}×${cells} cells, got ${cards}.`,
    );
  }
}

/** The arrangement of a task, without drawing it. */
interface Layout {
  readonly facts: NeedleFacts;
  /** Index of the digit in its split. */
  readonly digit: number;
}

/** Where the cards of a task lie: its metadata, without its image. */
export function needleFacts(
  split: Split,
  index: number,
  options: NeedleOptions = defaultNeedle,
): NeedleFacts {
  return layOut(options, split, index).facts;
}

function layOut({ seed, cells, pitch, cards }: NeedleOptions, split: Split, index: number): Layout {
  const random = randomAt(seed, 'needle-layout', split, index);
  const boxAt = (cell: number): Box => {
    const left = (cell % cells) * pitch + (pitch - DIGIT_SIZE) / 2;
    const top = Math.floor(cell / cells) * pitch + (pitch - DIGIT_SIZE) / 2;
    return [left, top, left + DIGIT_SIZE, top + DIGIT_SIZE];
  };
  const count = 1 + random.integer(cards);
  const [box, ...decoys] = cellsInUse(cells, count, split, random).map(boxAt) as [Box, ...Box[]];
  const places = Array.from({ length: cells * cells }, (_, cell) => boxAt(cell));
  return { facts: { box, decoys, places }, digit: random.integer(mnist(split).count) };
}

/** The table of a task with its cards, before anything else is done to it. */
export interface NeedleTable {
  readonly image: PixelImage;
  readonly facts: NeedleFacts;
  /** [28·28] ink of the digit. */
  readonly ink: Uint8Array;
  readonly answer: string;
}

/** Draws a table of the task set; task sets that add to it begin here. */
export function drawNeedle(options: NeedleOptions, split: Split, index: number): NeedleTable {
  const { facts, digit } = layOut(options, split, index);
  const random = randomAt(options.seed, 'needle', split, index);
  const digits = mnist(split);
  const { texture } = options;
  const image = drawTable(options.cells * options.pitch, texture, random, options.isLit);
  const ink = digits.pixels(digit);
  putCard(image, facts.box, ink, texture, random);
  for (const box of facts.decoys) putCard(image, box, drawDecoy(digits, random), texture, random);
  return { image, facts, ink, answer: String(digits.label(digit)) };
}

/** Cells without a card, whole. */
export function emptyCells(
  { pitch }: Pick<NeedleOptions, 'pitch'>,
  { box, decoys, places }: NeedleFacts,
): readonly Box[] {
  const taken = new Set([box, ...decoys].map(String));
  return places
    .filter((place) => !taken.has(String(place)))
    .map(([left, top]) => {
      const [x, y] = [Math.floor(left / pitch) * pitch, Math.floor(top / pitch) * pitch];
      return [x, y, x + pitch, y + pitch];
    });
}

/** The task that asks about an image. */
export async function needleTask(
  id: string,
  image: PixelImage,
  answer: string,
  metadata: Task['metadata'],
  question: string = needleQuestion,
): Promise<Task> {
  const { width, height } = image;
  const png = await encodeImage(image);
  return {
    id,
    question,
    images: [{ name: 'image_clue_0', png, width, height }],
    answer,
    metadata,
  };
}

async function makeTask(options: NeedleOptions, split: Split, index: number): Promise<Task> {
  const { image, facts, answer } = span('images/draw', () => drawNeedle(options, split, index));
  return needleTask(taskId('needle', split, index), image, answer, { ...facts });
}

export function taskId(taskSet: string, split: Split, index: number): string {
  return `${taskSet}-${split}-${String(index).padStart(6, '0')}`;
}

/**
 * Below this many pixels a PNG is encoded here: starting sharp's pipeline takes longer. Larger ones
 * take sharp a fraction of the time. It is stored, not compressed: a cold start encodes tens of
 * thousands of looks, and a look of 2.4 KB takes 0.08 ms instead of 0.31, and 0.07 instead of 0.20 to
 * decode again.
 */
const SMALL_PIXELS = 64 * 64;

/**
 * PNG bytes; fast rather than small.
 *
 * @throws MissingError if the package sharp is not installed
 */
export async function encodeImage({ pixels, width, height }: PixelImage): Promise<Uint8Array> {
  if (width * height <= SMALL_PIXELS) {
    return span('images/encode', () =>
      encode({ data: pixels, width, height, channels: 3 }, { zlib: { level: 0 } }),
    );
  }
  const { default: sharp } = await importOptional(
    'sharp@0.35',
    'Encoding a large image',
    () => import('sharp'),
  );
  return spanElsewhere('images/encode by sharp', () =>
    sharp(pixels, { raw: { width, height, channels: 3 } })
      .png({ compressionLevel: 2 })
      .toBuffer(),
  );
}

/** One in this many of the possible layouts is held out. Four cells have too few layouts for that. */
const HELD_OUT_ONE_IN = 8;
const HELD_OUT_OF_FOUR_CELLS = 3;

/** Distinct cells; which of them are in use together never happens in the other split. */
function cellsInUse(cells: number, count: number, split: Split, random: Random): readonly number[] {
  const all = Array.from({ length: cells * cells }, (_, cell) => cell);
  // The sums of `count` cells are count · (cells² − count) + 1 numbers in a row, so that both splits have some.
  const oneIn = cells === 2 ? HELD_OUT_OF_FOUR_CELLS : HELD_OUT_ONE_IN;
  for (;;) {
    const chosen = random.shuffle(all).slice(0, count);
    const isHeldOut = chosen.reduce((sum, cell) => sum + cell, 0) % oneIn === 0;
    if (isHeldOut === (split === 'heldOut')) return chosen;
  }
}
