/**
 * `count-and-find`: count, relate and find small things on photographs.
 *
 * Pictograms and small signs lie on old photographs at places that are known exactly. No kind, style
 * or photograph of the held-out split is in train.
 */
import { randomAt } from '@saccade/core';
import type { SettingsOf } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { boxAround } from '../rendering/drawing.ts';
import { typeface, typefacesOf } from '../rendering/typefaces.ts';
import { askScene, type SceneProgram } from '../scenes/ask-scene.ts';
import { drawBackground } from '../scenes/photographs.ts';
import { pictogramsOf } from '../scenes/pictograms.ts';
import { drawScene, itemBox, PALEST } from '../scenes/scene.ts';
import { checkDifficulties, difficultySettings, drawDifficulty } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings(
    'photographs, pictograms, places and questions',
    'larger images, more and smaller things, and colors as pale as the photograph',
  ),
});

/** Facts of a task, in its metadata. */
export interface CountAndFindFacts {
  readonly family: 'count-and-find';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which things are too small. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** The evidence that decides the answer; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  /** Everything on the photograph; pixels. */
  readonly items: readonly { readonly name: string; readonly box: Box }[];
  /** Signs on the photograph; pixels. */
  readonly signs: readonly { readonly text: string; readonly box: Box }[];
  readonly program: SceneProgram;
  readonly photograph: string;
  /** The icon set and the photographs; SOURCES.md has their licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
const ZOOM_FROM = 2;

/** Scenes by difficulty 1 to 3; lengths in pixels. */
const levels = [
  {
    width: 640,
    height: 480,
    sizes: [48, 72],
    items: [6, 10],
    kinds: 4,
    signs: 1,
    signHeight: 22,
    characters: 2,
    saturation: 1,
  },
  {
    width: 832,
    height: 624,
    sizes: [34, 54],
    items: [12, 20],
    kinds: 6,
    signs: 2,
    signHeight: 16,
    characters: 3,
    saturation: 0.5,
  },
  {
    width: 1024,
    height: 768,
    sizes: [24, 40],
    items: [20, 34],
    kinds: 9,
    signs: 3,
    signHeight: 13,
    characters: 4,
    saturation: PALEST,
  },
] as const;

/** Counting, relations and visual search with exact boxes. */
export const countAndFind = defineTaskSet({
  name: 'count-and-find',
  description: 'Count, relate and find small pictograms and signs on photographs.',
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
  const random = randomAt(options.seed, 'count-and-find', split, index);
  const difficulty = drawDifficulty(options, random);
  const level = levels[difficulty - 1] ?? levels[0];
  const { width, height, saturation } = level;
  const kinds = pictogramsOf(split);
  const face = typeface(random.pick(typefacesOf[split]), 700);
  // Drawn anew until places and question go together; about every second does.
  let asked = askScene(kinds, level, face, random);
  while (asked === undefined) asked = askScene(kinds, level, face, random);
  const { items, signs, program, evidence } = asked;
  const background = await drawBackground(split, width, height, random);
  const around = (box: Box) => boxAround([box], width, height);
  const facts: CountAndFindFacts = {
    family: 'count-and-find',
    difficulty,
    requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
    box: boxAround(
      evidence.map(({ box }) => box),
      width,
      height,
    ),
    evidence: evidence.map(({ name, box }) => ({ name, box: around(box) })),
    items: items.map((item) => ({ name: item.pictogram.name, box: around(itemBox(item)) })),
    signs: signs.map(({ text, box }) => ({ text, box })),
    program,
    photograph: background.name,
    source: `${kinds[0]?.style}; photograph ${background.name}`,
  };
  return {
    id: `count-and-find-${split}-${String(index).padStart(6, '0')}`,
    question: asked.question,
    images: [await drawScene({ background, items, signs, saturation }, 'image_clue_0')],
    answer: asked.answer,
    metadata: { ...facts },
  };
}
