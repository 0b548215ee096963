/** Task sets of visual search on walls of a size. */
import { ConfigError, randomAt } from '@saccade/core';
import { count, type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task, type TaskSetUnit } from '@saccade/gym';
import { z } from 'zod';
import { boxAround } from '../rendering/drawing.ts';
import { type Glyphs, glyphsOf } from '../rendering/glyphs.ts';
import { typefacesOf } from '../rendering/typefaces.ts';
import { type Pictogram, pictogramsOf } from '../scenes/pictograms.ts';
import { cachedTasks, cacheSetting } from '../stored-tasks/task-cache.ts';
import {
  checkDifficulties,
  difficultySettings,
  drawDifficulty,
  someOf,
} from '../task-sets/difficulty.ts';
import {
  askWall,
  type WallOperation,
  type WallPlan,
  type WallProgram,
  wallOperations,
} from './ask-wall.ts';
import { diskOf, drawStickers, type InkName, LABEL_SIZE } from './stickers.ts';
import { drawWall } from './wall.ts';

const searchSettings = (width: number) =>
  z.strictObject({
    ...difficultySettings('walls, stickers and questions', 'more stickers'),
    width: count({
      min: 1280,
      max: 16_384,
      default: width,
      unit: 'pixels',
      about: 'Width of a wall; it is nine sixteenths as high.',
    }),
    operations: textList({
      unit: 'kinds of questions',
      about: `Some of ${wallOperations.join(', ')}; none means all.`,
    }),
    cache: cacheSetting,
  });

type SearchSettings = ReturnType<typeof searchSettings>;

/** Facts of a task, in its metadata. */
export interface SearchFacts {
  readonly family: string;
  /** 1 to 3. */
  readonly difficulty: number;
  readonly requiredTools: readonly ['crop'];
  readonly needsSearch: true;
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** What decides: the sticker or its label, or both stickers of a relation; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  /** The largest area of the evidence as a share of the wall. */
  readonly share: number;
  /** Every sticker; pixels. */
  readonly stickers: readonly {
    readonly name: string;
    readonly color: InkName;
    readonly label: string;
    readonly box: Box;
  }[];
  readonly program: WallProgram;
  readonly tolerance: number;
  readonly typeface: string;
  /** The icon set, and what the wall shows; SOURCES.md has their licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
/** Fewest and most stickers by difficulty 1 to 3. */
const countsOf = [
  [200, 300],
  [350, 500],
  [600, 800],
] as const;
/** Stickers are drawn anew this often before the wall is too small for them. */
const TRIES = 200;

/** A search on walls of a width. */
export interface SearchDefinition<Name extends string> {
  readonly name: Name;
  readonly description: string;
  readonly width: number;
  /** Smallest and largest sticker in pixels. */
  readonly sizes: readonly [number, number];
}

/** Defines a task set of visual search. */
export function defineSearch<const Name extends string>({
  name,
  description,
  width: preset,
  sizes,
}: SearchDefinition<Name>): TaskSetUnit<SearchSettings> & { readonly name: Name } {
  return defineTaskSet({
    name,
    description,
    settings: searchSettings(preset),
    create(options) {
      checkDifficulties(options);
      const operations = someOf('operations', options.operations, wallOperations);
      const plain = {
        size: () => TASKS,
        task: (split: Split, index: number) =>
          makeTask(name, options, sizes, operations, split, index),
      };
      const { cache, ...drawn } = options;
      return cache === undefined ? plain : cachedTasks(plain, name, drawn, cache);
    },
  });
}

async function makeTask(
  name: string,
  options: SettingsOf<SearchSettings>,
  sizes: readonly [number, number],
  operations: readonly WallOperation[],
  split: Split,
  index: number,
): Promise<Task> {
  const { width, seed } = options;
  const random = randomAt(seed, name, split, index);
  const difficulty = drawDifficulty(options, random);
  const [fewest, most] = countsOf[difficulty - 1] ?? countsOf[0];
  const height = Math.round((width * 9) / 16);
  const face = random.pick(typefacesOf[split]);
  const glyphs = await glyphsOf(face, 700, LABEL_SIZE);
  const kinds = pictogramsOf(split);
  const plan = { width, height, sizes, count: fewest + random.integer(most - fewest + 1) };
  const operation = random.pick(operations);
  const asked = clearWall(kinds, plan, operation, glyphs, (tries) =>
    randomAt(seed, name, split, index, tries),
  );
  const { canvas, sources } = await drawWall(split, width, height, random);
  await drawStickers(canvas, asked.stickers, glyphs);
  const areas = asked.evidence.map(({ box: [left, top, right, bottom] }) => {
    return ((right - left) * (bottom - top)) / (width * height);
  });
  const facts: SearchFacts = {
    family: name,
    difficulty,
    requiredTools: ['crop'],
    needsSearch: true,
    box: boxAround(
      asked.evidence.map(({ box }) => box),
      width,
      height,
    ),
    evidence: asked.evidence,
    share: Math.max(...areas),
    stickers: asked.stickers.map((sticker) => {
      const { pictogram, color, label } = sticker;
      return { name: pictogram.name, color, label, box: diskOf(sticker) };
    }),
    program: asked.program,
    tolerance: 0,
    typeface: face,
    source: [kinds[0]?.style, ...sources].join('; '),
  };
  return {
    id: `${name}-${split}-${String(index).padStart(6, '0')}`,
    question: asked.question,
    images: [await canvas.toImage('image_clue_0')],
    answer: asked.answer,
    metadata: { ...facts },
  };
}

/** Stickers and a question that go together; most do. */
function clearWall(
  kinds: readonly Pictogram[],
  plan: WallPlan,
  operation: WallOperation,
  glyphs: Glyphs,
  randomOf: (tries: number) => ReturnType<typeof randomAt>,
) {
  for (let tries = 0; tries < TRIES; tries++) {
    const asked = askWall(kinds, plan, operation, glyphs, randomOf(tries));
    if (asked !== undefined) return asked;
  }
  throw new ConfigError(
    'width',
    `taskSet.width: a wall of ${plan.width} pixels has no room for ${plan.count} stickers. ` +
      'Give a larger width, or a lower taskSet.hardest.',
  );
}
