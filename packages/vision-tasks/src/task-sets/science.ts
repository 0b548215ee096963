/**
 * `science`: figures of physics, chemistry and biology, whose answers follow from what they show.
 *
 * Parts of the periodic table, circuits of resistors, food webs, and measuring instruments. Elements,
 * resistances, habitats and scales of the held-out split are not in train.
 */
import { randomAt } from '@saccade/core';
import { type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { boxAround } from '../rendering/drawing.ts';
import { circuit } from '../science/circuit.ts';
import { elements } from '../science/elements.ts';
import { type MakeFigure, type ScienceProgram, scienceStyle } from '../science/figure.ts';
import { foodWeb } from '../science/food-web.ts';
import { instrument } from '../science/instrument.ts';
import { checkDifficulties, difficultySettings, drawDifficulty, someOf } from './difficulty.ts';

const makers = { circuit, elements, 'food-web': foodWeb, instrument } satisfies Record<
  string,
  MakeFigure
>;

/** Kind of figure. */
type ScienceKind = keyof typeof makers;

const kindNames = Object.keys(makers) as ScienceKind[];

const settings = z.strictObject({
  ...difficultySettings(
    'kinds, figures and questions',
    'larger figures with more parts and smaller text, finer scales and more steps',
  ),
  kinds: textList({
    unit: 'kinds of figures',
    about: `Some of ${kindNames.join(', ')}; none means all.`,
  }),
});

/** Facts of a task, in its metadata. */
export interface ScienceFacts {
  readonly family: 'science';
  readonly kind: ScienceKind;
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which the text is too small. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** The evidence that decides the answer; pixels. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  readonly program: ScienceProgram;
  /** Largest relative error of a right answer. */
  readonly tolerance: number;
  readonly typeface: string;
  /** Where the facts come from; SOURCES.md has licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
const ZOOM_FROM = 2;

/** Questions about periodic tables, circuits, food webs and instruments. */
export const science = defineTaskSet({
  name: 'science',
  description: 'Read instruments, periodic tables, circuits and food webs.',
  settings,
  create(options) {
    checkDifficulties(options);
    const kinds = someOf('kinds', options.kinds, kindNames);
    return { size: () => TASKS, task: (split, index) => makeTask(options, kinds, split, index) };
  },
});

async function makeTask(
  options: SettingsOf<typeof settings>,
  kinds: readonly ScienceKind[],
  split: Split,
  index: number,
): Promise<Task> {
  const random = randomAt(options.seed, 'science', split, index);
  const difficulty = drawDifficulty(options, random);
  const kind = random.pick(kinds);
  const style = scienceStyle(split, difficulty, random);
  // Drawn anew until figure and question go together; one in a few does.
  let figure = makers[kind](split, difficulty, style, random);
  while (figure === undefined) figure = makers[kind](split, difficulty, style, random);
  const { width, height } = figure.drawing;
  const around = (boxes: readonly Box[]) => boxAround(boxes, width, height);
  const facts: ScienceFacts = {
    family: 'science',
    kind,
    difficulty,
    requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
    box: around(figure.evidence.map(({ box }) => box)),
    evidence: figure.evidence.map(({ name, box }) => ({ name, box: around([box]) })),
    program: figure.program,
    tolerance: figure.tolerance,
    typeface: style.regular.name,
    source: figure.source,
  };
  return {
    id: `science-${split}-${String(index).padStart(6, '0')}`,
    question: figure.question,
    images: [await figure.drawing.toImage('image_clue_0')],
    answer: figure.answer,
    metadata: { ...facts },
  };
}
