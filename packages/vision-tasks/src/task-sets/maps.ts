/**
 * `maps`: questions about maps of real places, colored by real numbers in classes.
 *
 * Counties of a state, states of a region, countries of a continent. No place and no color of the
 * held-out split is in train. A question's answer follows from the table by the program in its
 * metadata.
 */
import { randomAt } from '@saccade/core';
import type { SettingsOf } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { askMap, type MapProgram } from '../maps/ask-map.ts';
import { drawMap } from '../maps/draw-map.ts';
import { mapStyle } from '../maps/map-style.ts';
import { planMap } from '../maps/plan-map.ts';
import { boxAround } from '../rendering/drawing.ts';
import { checkDifficulties, difficultySettings, drawDifficulty } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings(
    'places, quantities, colors and questions',
    'more regions, more classes, smaller names and questions about neighbors',
  ),
});

/** Facts of a task, in its metadata. */
export interface MapFacts {
  readonly family: 'maps';
  /** 1 to 3. */
  readonly difficulty: number;
  /** Tools without which the names are too small. */
  readonly requiredTools: readonly string[];
  /** Around the evidence; pixels. */
  readonly box: Box;
  /** The regions that decide the answer. */
  readonly evidence: readonly { readonly name: string; readonly box: Box }[];
  /** The names in the map; pixels. */
  readonly labels: Readonly<Record<string, Box>>;
  /** The legend; pixels. */
  readonly legend: Box;
  /** The stored map and its quantity. */
  readonly table: string;
  readonly program: MapProgram;
  /** Where one class ends and the next begins, upwards. */
  readonly breaks: readonly number[];
  /** Classes as the legend writes them, lowest first. */
  readonly classes: readonly string[];
  readonly typeface: string;
  /** The files of shapes and numbers; SOURCES.md has their licenses. */
  readonly source: string;
}

const TASKS = 1_000_000;
/** From this difficulty on names cannot be read in an image that is shrunk for a small model. */
const ZOOM_FROM = 2;
const QUESTION_TRIES = 20;

/** Questions about maps of real places in colors of classes. */
export const maps = defineTaskSet({
  name: 'maps',
  description: 'Read classes off maps of real places, count regions and compare neighbors.',
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
  const random = randomAt(options.seed, 'maps', split, index);
  const difficulty = drawDifficulty(options, random);
  // Drawn anew until place, classes and question go together; one in a few does.
  for (;;) {
    const plan = planMap(split, difficulty, random);
    if (plan === undefined) continue;
    const style = mapStyle(split, difficulty, random);
    const { drawing, boxes, labels, legend } = drawMap(plan, style);
    // Drawing takes longer than asking, so one map gets several tries.
    let asked = askMap(plan, difficulty, labels, random);
    for (let tries = 1; tries < QUESTION_TRIES && asked === undefined; tries++) {
      asked = askMap(plan, difficulty, labels, random);
    }
    if (asked === undefined) continue;
    const { width, height } = drawing;
    const { program } = asked;
    const around = (some: readonly Box[]) => boxAround(some, width, height);
    const decisive = [...program.regions, ...(program.of === undefined ? [] : [program.of])];
    const evidence = decisive.map((name) => ({ name, box: around(boxesOf(boxes, name)) }));
    const facts: MapFacts = {
      family: 'maps',
      difficulty,
      requiredTools: difficulty >= ZOOM_FROM ? ['crop'] : [],
      box: around(evidence.map(({ box }) => box)),
      evidence,
      labels: Object.fromEntries([...labels].map(([name, box]) => [name, around([box])])),
      legend: around([legend]),
      table: `${plan.map.id} ${plan.table.measure} ${plan.table.when}`.trim(),
      program,
      breaks: plan.breaks,
      classes: plan.classes,
      typeface: style.regular.name,
      source: plan.map.source,
    };
    return {
      id: `maps-${split}-${String(index).padStart(6, '0')}`,
      question: asked.question,
      images: [await drawing.toImage('image_clue_0')],
      answer: asked.answer,
      metadata: { ...facts },
    };
  }
}

function boxesOf(boxes: ReadonlyMap<string, Box>, name: string): readonly Box[] {
  const box = boxes.get(name);
  return box === undefined ? [] : [box];
}
