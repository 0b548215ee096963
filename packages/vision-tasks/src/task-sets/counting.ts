/**
 * `counting`: how many are there?
 *
 * Counterpart of CountBench and PixmoCount: one kind among others is counted, from 2 to 10 where it is easy
 * and to 40 where it is hard, and the metadata has a point for each. Things may hide a part of each other.
 * Every number of the range is as likely. No kind, style or photograph of the held-out split is in train.
 */
import { type Random, randomAt } from '@saccade/core';
import { count, type SettingsOf } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { drawCrowd } from '../counting/crowd.ts';
import { boxAround } from '../rendering/drawing.ts';
import { drawBackground } from '../scenes/photographs.ts';
import { pictogramsOf } from '../scenes/pictograms.ts';
import { drawScene, itemBox, type SceneItem } from '../scenes/scene.ts';
import { checkDifficulties, difficultySettings, drawDifficulty } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings('photographs, things and places', 'larger images with more things'),
  fewest: count({
    min: 0,
    max: 8,
    default: 2,
    unit: 'things',
    about: 'Lowest number of the counted kind.',
  }),
});

/** How the answer follows: how many there are of one kind, or of both together. */
export interface CountingProgram {
  readonly operation: 'count' | 'count-both';
  readonly kinds: readonly string[];
}

/** Facts of a task, in its metadata. */
export interface CountingFacts {
  readonly family: 'counting';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which things are too small. */
  readonly requiredTools: readonly string[];
  readonly needsSearch: boolean;
  /** Around what is counted, or the whole image where there is none; pixels. */
  readonly box: Box;
  /** What is counted; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  /** The middle of each thing that is counted; pixels. */
  readonly points: readonly (readonly [number, number])[];
  /** Everything on the photograph; pixels. */
  readonly items: readonly { readonly name: string; readonly box: Box }[];
  readonly program: CountingProgram;
  readonly tolerance: number;
  readonly photograph: string;
  /** The icon set and the photograph; SOURCES.md has their licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
const ZOOM_FROM = 2;

/** Images by difficulty 1 to 3; lengths in pixels. `most` is the highest count, `others` the most else. */
const levels = [
  { width: 640, height: 480, sizes: [44, 84], most: 10, others: [2, 6] },
  { width: 1024, height: 768, sizes: [34, 76], most: 20, others: [10, 24] },
  { width: 1600, height: 1200, sizes: [26, 64], most: 40, others: [40, 90] },
] as const;

/** Counting with a point for each thing. */
export const counting = defineTaskSet({
  name: 'counting',
  description: 'Count the things of a kind that lie among others on a photograph.',
  settings,
  create(options) {
    checkDifficulties(options);
    return { size: () => TASKS, task: (split, index) => makeTask(options, split, index) };
  },
});

async function makeTask(
  options: SettingsOf<typeof settings>,
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'counting', split, index);
  const difficulty = drawDifficulty(options, random);
  const level = levels[difficulty - 1] ?? levels[0];
  const { width, height } = level;
  const kinds = pictogramsOf(split);
  const { items, program, question } = askCount(kinds, level, options.fewest, random);
  const counted = items.filter(({ pictogram }) => program.kinds.includes(pictogram.name));
  const background = await drawBackground(split, width, height, random);
  const named = (some: readonly SceneItem[]) =>
    some.map((item) => ({
      name: item.pictogram.name,
      box: boxAround([itemBox(item)], width, height),
    }));
  const evidence = named(counted);
  const boxes = evidence.map(({ box }) => box);
  const facts: CountingFacts = {
    family: 'counting',
    difficulty,
    requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
    needsSearch: difficulty >= ZOOM_FROM,
    box: boxes.length === 0 ? [0, 0, width, height] : boxAround(boxes, width, height),
    evidence,
    points: counted.map(({ x, y }) => [Math.round(x), Math.round(y)]),
    items: named(items),
    program,
    tolerance: 0,
    photograph: background.name,
    source: `${kinds[0]?.style}; photograph ${background.name}`,
  };
  return {
    id: `counting-${split}-${String(index).padStart(6, '0')}`,
    question,
    images: [await drawScene({ background, items, signs: [], saturation: 1 }, 'image_clue_0')],
    answer: String(counted.length),
    metadata: { ...facts },
  };
}

/** Things with a question; drawn anew until they fit on the image. */
function askCount(
  kinds: ReturnType<typeof pictogramsOf>,
  level: (typeof levels)[number],
  fewest: number,
  random: Random,
): { items: readonly SceneItem[]; program: CountingProgram; question: string } {
  for (;;) {
    const [first, second, ...others] = random.shuffle(kinds);
    if (first === undefined || second === undefined) continue;
    const total = fewest + random.integer(level.most - fewest + 1);
    const isBoth = total >= 2 && random.integer(4) === 0;
    const ofFirst = isBoth ? 1 + random.integer(total - 1) : total;
    const [least, most] = level.others;
    const rest = least + random.integer(most - least + 1);
    const chosen = [
      ...Array.from({ length: ofFirst }, () => first),
      ...Array.from({ length: total - ofFirst }, () => second),
      ...Array.from({ length: rest }, () => random.pick(others)),
    ];
    const items = drawCrowd(random.shuffle(chosen), level, random);
    if (items === undefined) continue;
    const program: CountingProgram = isBoth
      ? { operation: 'count-both', kinds: [first.name, second.name] }
      : { operation: 'count', kinds: [first.name] };
    const question = isBoth
      ? `How many ${first.plural} and ${second.plural} are there together? Answer with a number.`
      : `How many ${first.plural} are there? Answer with a number.`;
    return { items, program, question };
  }
}
