/**
 * `spot-the-difference`: two or three images of a scene, with known changes between them.
 *
 * Items are moved, removed, recolored or rotated; everything else is the same to the last bit. No
 * kind, style or photograph of the held-out split is in train.
 */
import { type Random, randomAt } from '@saccade/core';
import { type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task, type TaskImage } from '@saccade/gym';
import { z } from 'zod';
import { boxAround } from '../rendering/drawing.ts';
import { arrange } from '../scenes/arrange.ts';
import { type Change, type ChangeKind, changeItems, changeKinds } from '../scenes/change.ts';
import { optionsOf } from '../scenes/options.ts';
import { drawBackground } from '../scenes/photographs.ts';
import { pictogramsOf } from '../scenes/pictograms.ts';
import { drawScene, type SceneItem } from '../scenes/scene.ts';
import {
  checkDifficulties,
  type Difficulty,
  difficultySettings,
  drawDifficulty,
  someOf,
} from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings(
    'photographs, pictograms and changes',
    'larger images with more, smaller and paler things, more changes, and a third image',
  ),
  changes: textList({
    unit: 'kinds of changes',
    about: `Some of ${changeKinds.join(', ')}; none means all.`,
  }),
});

type Settings = SettingsOf<typeof settings>;

/**
 * How the answer follows from the changes:
 *
 * | operation    | answer                                                                 |
 * | ------------ | ---------------------------------------------------------------------- |
 * | `count`      | how many items are changed                                             |
 * | `count-kind` | how many items are changed in the way `kind`                           |
 * | `kind`       | what happened to the only one that is changed                          |
 * | `name`       | the kind of thing that it is                                           |
 * | `cell`       | its cell: A to C from the top, then 1 to 3 from the left               |
 * | `odd`        | the number of the only image of three that is not like the others      |
 */
export interface DifferenceProgram {
  readonly operation: DifferenceOperation;
  readonly kind?: ChangeKind;
}

type DifferenceOperation = 'count' | 'count-kind' | 'kind' | 'name' | 'cell' | 'odd';

/** Facts of a task, in its metadata. */
export interface DifferenceFacts {
  readonly family: 'spot-the-difference';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which things are too small. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels of either image. */
  readonly box: Box;
  /** The changed items, by the name of the image; pixels. */
  readonly evidence: readonly {
    readonly name: string;
    readonly image: string;
    readonly box: Box;
  }[];
  /** The changes made. */
  readonly changes: readonly Change[];
  readonly program: DifferenceProgram;
  /** The icon set and the photograph; SOURCES.md has their licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
const ZOOM_FROM = 2;
const GRID = 3;

/** Scenes by difficulty 1 to 3; lengths in pixels. */
const levels = [
  { width: 480, height: 360, sizes: [36, 52], items: 10, kinds: 6, mostChanges: 4, saturation: 1 },
  {
    width: 640,
    height: 480,
    sizes: [24, 36],
    items: 22,
    kinds: 10,
    mostChanges: 6,
    saturation: 0.8,
  },
  {
    width: 960,
    height: 720,
    sizes: [18, 28],
    items: 40,
    kinds: 14,
    mostChanges: 8,
    saturation: 0.6,
  },
] as const;

const operationsOf: Readonly<Record<Difficulty, readonly DifferenceOperation[]>> = {
  1: ['count', 'kind', 'cell'],
  2: ['count', 'count-kind', 'kind', 'name', 'odd'],
  3: ['count', 'count-kind', 'name', 'odd'],
};

/** Changes between two or three images of a scene. */
export const spotTheDifference = defineTaskSet({
  name: 'spot-the-difference',
  description: 'Find what is moved, removed, recolored or rotated between images of a scene.',
  settings,
  create(options) {
    checkDifficulties(options);
    const kinds = someOf('changes', options.changes, changeKinds);
    return { size: () => TASKS, task: (split, index) => makeTask(options, kinds, split, index) };
  },
});

interface Puzzle {
  readonly question: string;
  readonly answer: string;
  readonly program: DifferenceProgram;
  readonly changes: readonly Change[];
  /** The items that each image shows. */
  readonly versions: readonly (readonly SceneItem[])[];
  /** The image that shows the items as changed, counted from 0. */
  readonly changed: number;
}

async function makeTask(
  options: Settings,
  kinds: readonly ChangeKind[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'spot-the-difference', split, index);
  const difficulty = drawDifficulty(options, random);
  const { width, height, saturation } = levels[difficulty - 1] ?? levels[0];
  // Drawn anew until places, changes and question go together; about every second does.
  let puzzle = drawPuzzle(split, difficulty, kinds, random);
  while (puzzle === undefined) puzzle = drawPuzzle(split, difficulty, kinds, random);
  const { changes, versions, changed } = puzzle;
  const background = await drawBackground(split, width, height, random);
  const drawn = new Map<readonly SceneItem[], TaskImage>();
  const images: TaskImage[] = [];
  for (const [number, items] of versions.entries()) {
    const name = `image_clue_${number}`;
    const scene = { background, items, signs: [], saturation };
    const image = drawn.get(items) ?? (await drawScene(scene, name));
    drawn.set(items, image);
    images.push({ ...image, name });
  }
  const original = changed === 0 ? 1 : 0;
  const at = (name: string, image: number, box: Box) => {
    return { name, image: `image_clue_${image}`, box: boxAround([box], width, height) };
  };
  const evidence = changes.flatMap(({ name, before, after }) => [
    at(name, original, before),
    ...(after === undefined ? [] : [at(name, changed, after)]),
  ]);
  const facts: DifferenceFacts = {
    family: 'spot-the-difference',
    difficulty,
    requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
    box: boxAround(
      evidence.map(({ box }) => box),
      width,
      height,
    ),
    evidence,
    changes,
    program: puzzle.program,
    source: `${versions[0]?.[0]?.pictogram.style}; photograph ${background.name}`,
  };
  return {
    id: `spot-the-difference-${split}-${String(index).padStart(6, '0')}`,
    question: puzzle.question,
    images,
    answer: puzzle.answer,
    metadata: { ...facts },
  };
}

/** Draws a scene with changes and a question; undefined where they do not go together. */
function drawPuzzle(
  split: Split,
  difficulty: Difficulty,
  kinds: readonly ChangeKind[],
  random: Random,
): Puzzle | undefined {
  const level = levels[difficulty - 1] ?? levels[0];
  const operation = random.pick(operationsOf[difficulty]);
  const shown = random.shuffle(pictogramsOf(split)).slice(0, level.kinds);
  const wanted = Array.from({ length: level.items }, () => random.pick(shown));
  const items = arrange(wanted, level, [], random);
  if (items === undefined) return undefined;
  const kind = random.pick(kinds);
  const picked = pickKinds(operation, kind, kinds, level.mostChanges, random);
  const found = changeItems(items, picked, level, random);
  const [change] = found?.changes ?? [];
  if (found === undefined || change === undefined) return undefined;
  const { changes } = found;
  const pair = { program: { operation }, changes, versions: [items, found.items], changed: 1 };
  switch (operation) {
    case 'count':
      return {
        ...pair,
        question:
          'How many things are changed from the first image to the second? A thing that is moved, ' +
          'removed, recolored, or rotated counts once.',
        answer: String(changes.length),
      };
    case 'count-kind':
      return {
        ...pair,
        program: { operation, kind },
        question:
          'From the first image to the second, some things are changed: each of them is moved, ' +
          `removed, recolored, or rotated. How many are ${kind}?`,
        answer: String(changes.filter((each) => each.kind === kind).length),
      };
    case 'name': {
      const thing = shown.find(({ name }) => name === change.name);
      if (thing === undefined) return undefined;
      const listed = optionsOf(thing, shown, pictogramsOf(split), random);
      return {
        ...pair,
        question: `One thing is changed from the first image to the second. Which kind of thing is it: ${listed}?`,
        answer: change.name,
      };
    }
    case 'kind':
      return {
        ...pair,
        question:
          'One thing is changed from the first image to the second. Is it moved, removed, ' +
          'recolored, or rotated? Answer with one of these words.',
        answer: change.kind,
      };
    case 'cell': {
      const cell = cellOf(change, level);
      if (cell === undefined) return undefined;
      return {
        ...pair,
        question:
          'One thing is changed from the first image to the second. Divide the image into three ' +
          'rows, A to C from the top, and three columns, 1 to 3 from the left, all of equal size. ' +
          'In which cell is the change? Answer like B2.',
        answer: cell,
      };
    }
    case 'odd': {
      const changed = random.integer(3);
      return {
        ...pair,
        versions: [0, 1, 2].map((number) => (number === changed ? found.items : items)),
        changed,
        question:
          'Two of the three images are the same, and in one a single thing is changed. Which image ' +
          'is it? Answer 1, 2 or 3.',
        answer: String(changed + 1),
      };
    }
  }
}

/** The kinds of the changes that a question needs; of a kind that is counted, each number is as likely. */
function pickKinds(
  operation: DifferenceOperation,
  kind: ChangeKind,
  kinds: readonly ChangeKind[],
  most: number,
  random: Random,
): readonly ChangeKind[] {
  if (operation === 'count') {
    return Array.from({ length: 1 + random.integer(most) }, () => random.pick(kinds));
  }
  if (operation !== 'count-kind') return [kind];
  const others = kinds.filter((other) => other !== kind);
  if (others.length === 0) return Array.from({ length: 1 + random.integer(most) }, () => kind);
  const counted = random.integer(most);
  const rest = 1 + random.integer(most - counted);
  return [
    ...Array.from({ length: counted }, () => kind),
    ...Array.from({ length: rest }, () => random.pick(others)),
  ];
}

/** The cell that holds a change whole; undefined where more than one has a part of it. */
function cellOf(
  { before, after = before }: Change,
  { width, height }: { readonly width: number; readonly height: number },
): string | undefined {
  const [left, top, right, bottom] = boxAround([before, after], width, height);
  const column = Math.floor((left * GRID) / width);
  const row = Math.floor((top * GRID) / height);
  if (right * GRID > (column + 1) * width || bottom * GRID > (row + 1) * height) return undefined;
  return `${'ABC'[row]}${column + 1}`;
}
