/**
 * `geometry-solve`: find a length or an angle that k theorems give from what the figure shows.
 *
 * A figure is built from coordinates. Measures are hidden until a shortest proof of the goal applies
 * exactly k theorems, so k is the difficulty. Given numbers stand in the figure alone.
 */
import { ConfigError, type Random, randomAt } from '@saccade/core';
import { choice, count, type SettingsOf } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { type DrawnFigure, drawFigure } from '../geometry/draw-figure.ts';
import { isAngle, isComposite, type Point, writeMeasure } from '../geometry/figure.ts';
import { type FigureStyle, figureStyle } from '../geometry/figure-style.ts';
import { figuresOf } from '../geometry/figures/figures-of-split.ts';
import { makeProblem, type Problem } from '../geometry/problem.ts';
import type { ProofStep, Quantity } from '../geometry/relation.ts';
import { boxAround } from '../rendering/drawing.ts';

const geometrySolveSettings = z.strictObject({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of figures, numbers and styles.',
  }),
  fewestTheorems: count({
    min: 1,
    max: 3,
    default: 1,
    unit: 'theorems',
    about: 'Fewest theorems that a shortest proof applies.',
  }),
  mostTheorems: count({
    min: 1,
    max: 3,
    default: 3,
    unit: 'theorems',
    about: 'Most theorems that a shortest proof applies; every number in the range is as likely.',
  }),
  answers: choice(['mixed', 'number', 'choice'], {
    default: 'mixed',
    about:
      'Whether tasks ask for a number, for one of four choices, or for a choice one time in four.',
  }),
  side: count({
    min: 320,
    max: 1024,
    default: 600,
    unit: 'pixels',
    about:
      'Longer side of the image at one theorem; half as much more with each further one, so that ' +
      'its text looks smaller.',
  }),
});

type Settings = SettingsOf<typeof geometrySolveSettings>;

/** Facts of a task, in its metadata. */
export interface GeometryFacts {
  readonly family: 'geometry-solve';
  /** Kind of figure. */
  readonly figure: string;
  /** The letters that the goal names, as one box; pixels. */
  readonly box: Box;
  /** The labels that the proof reads; pixels. */
  readonly evidence: readonly Box[];
  readonly requiredTools: readonly string[];
  /** Theorems in a shortest proof, 1 to 3. */
  readonly difficulty: number;
  /** The shortest proof, step by step. */
  readonly program: readonly ProofStep[];
  /** The problem in FormalGeo's language. */
  readonly cdl: {
    readonly construction: readonly string[];
    readonly conditions: readonly string[];
    readonly goal: string;
  };
  /** Given measures: units of length, or degrees. */
  readonly given: Readonly<Record<Quantity, number>>;
  readonly goal: Quantity;
  /** The answer as a number, also where the task asks for a letter. */
  readonly value: number;
  /** The points in the image; pixels. */
  readonly points: Readonly<Record<string, Point>>;
  readonly choices?: readonly string[];
  readonly style: string;
  readonly typeface: string;
  readonly source: string;
}

interface DrawnProblem {
  readonly problem: Problem;
  readonly drawn: DrawnFigure;
  /** The given measures that the text says. */
  readonly told: readonly (readonly [Quantity, number])[];
}

const TASKS = 1_000_000;
/** A guess is right in one of four choices, so that more of them would make guessing pay. */
const CHOICE_EVERY = 4;

/** Names of points of each split; O is the center of a circle in both. */
const letters: Readonly<Record<Split, readonly string[]>> = {
  train: [...'ABCDEFGHJKLM'],
  heldOut: [...'NPQRSTUVWXYZ'],
};

/** Lengths and angles in constructed figures, each with the shortest proof that gives it. */
export const geometrySolve = defineTaskSet({
  name: 'geometry-solve',
  description: 'Find a length or an angle in a figure by one, two or three theorems.',
  settings: geometrySolveSettings,
  create(settings) {
    const { fewestTheorems: fewest, mostTheorems: most } = settings;
    if (fewest > most) {
      throw new ConfigError(
        'mostTheorems',
        `taskSet.mostTheorems: expected at least taskSet.fewestTheorems (${fewest}), got ${most}.`,
      );
    }
    return { size: () => TASKS, task: (split, index) => makeTask(settings, split, index) };
  },
});

async function makeTask(settings: Settings, split: Split, index: number): Promise<Task> {
  const random = randomAt(settings.seed, 'geometry-solve', split, index);
  const { fewestTheorems, mostTheorems } = settings;
  const theorems = fewestTheorems + random.integer(mostTheorems - fewestTheorems + 1);
  const style = figureStyle(split, random);
  const side = Math.round((settings.side * (1 + theorems)) / 2);
  const { problem, drawn, told } = drawProblem(split, theorems, style, side, random);
  const { figure, given, goal, answer } = problem;
  const { width, height } = drawn.drawing;
  const asksChoice =
    settings.answers === 'choice' ||
    (settings.answers === 'mixed' && random.integer(CHOICE_EVERY) === 0);
  const choices = asksChoice ? makeChoices(problem, random) : undefined;
  const asked = [...drawn.names].filter(([name]) => goal.includes(name)).map(([, box]) => box);
  const facts: GeometryFacts = {
    family: 'geometry-solve',
    figure: figure.kind,
    box: boxAround(asked, width, height),
    evidence: [...drawn.labels.values()].map((box) => boxAround([box], width, height)),
    requiredTools: ['image_cdl', 'text_cdl', 'inter_gps'],
    difficulty: theorems,
    program: problem.proof,
    cdl: {
      construction: figure.construction,
      conditions: [...given].map(([name, value]) => `Equal(${writeMeasure(name)},${value})`),
      goal: `Value(${writeMeasure(goal)})`,
    },
    given: Object.fromEntries(given),
    goal,
    value: answer,
    points: Object.fromEntries(drawn.points),
    ...(choices === undefined ? {} : { choices }),
    style: style.name,
    typeface: style.typeface.name,
    source: 'generated from coordinates; no outside data',
  };
  return {
    id: `geometry-solve-${split}-${String(index).padStart(6, '0')}`,
    question: writeQuestion(problem, told, choices),
    images: [await drawn.drawing.toImage('image_clue_0')],
    answer: choices === undefined ? String(answer) : letterOf(choices, label(goal, answer)),
    metadata: { ...facts },
  };
}

/** A problem and its figure, drawn anew until its texts keep off each other. */
function drawProblem(
  split: Split,
  theorems: number,
  style: FigureStyle,
  side: number,
  random: Random,
): DrawnProblem {
  for (;;) {
    const problem = makeProblem(figuresOf[split], letters[split], theorems, random);
    const { figure, given } = problem;
    // A label cannot show a whole that the figure divides: the text says it.
    const told = [...given].filter(([quantity]) => isComposite(figure, quantity));
    const shown = [...given].filter(([quantity]) => !isComposite(figure, quantity));
    const labels = new Map(shown.map(([quantity, value]) => [quantity, label(quantity, value)]));
    const drawn = drawFigure(figure, labels, style, side, random);
    if (!drawn.isCrowded) return { problem, drawn, told };
  }
}

const label = (quantity: Quantity, value: number): string =>
  isAngle(quantity) ? `${value}°` : String(value);

function letterOf(choices: readonly string[], text: string): string {
  return 'ABCD'[choices.indexOf(text)] ?? '';
}

function writeQuestion(
  { figure, goal }: Problem,
  told: readonly (readonly [Quantity, number])[],
  choices: readonly string[] | undefined,
): string {
  const stated = [
    ...figure.facts,
    ...told.map(([name, value]) => `${name} = ${label(name, value)}`),
  ];
  const given = stated.length > 0 ? `In the figure, ${join(stated)}. ` : '';
  const unit = isAngle(goal) ? ' of degrees' : '';
  if (choices === undefined) return `${given}Find ${goal}. Answer with a number${unit}.`;
  const listed = choices.map((text, index) => `${'ABCD'[index]}. ${text}`).join('\n');
  return `${given}Find ${goal}.\n${listed}\nAnswer with a letter.`;
}

/** Clauses with a comma before “and”, which would otherwise join two names to one fact. */
function join(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}

/** Four texts in random order: the answer, and what slips would give. */
function makeChoices({ given, goal, answer }: Problem, random: Random): readonly string[] {
  const numbers = [...given.values()];
  const slips = isAngle(goal)
    ? [180 - answer, 90 - answer, answer * 2, answer / 2, ...numbers.map((x) => 180 - x)]
    : numbers.flatMap((x) => [answer + x, answer - x, ...numbers.map((y) => x + y)]);
  const near = [answer + 5, answer - 4, answer + 9, answer + 2, answer - 7, answer + 12];
  const most = isAngle(goal) ? 179 : Number.POSITIVE_INFINITY;
  const isPossible = (x: number) => Number.isInteger(x) && x > 1 && x <= most && x !== answer;
  const others = [...random.shuffle(slips), ...random.shuffle(near)].filter(isPossible);
  const distinct = [...new Set(others)].slice(0, 3);
  return random.shuffle([answer, ...distinct]).map((value) => label(goal, value));
}
