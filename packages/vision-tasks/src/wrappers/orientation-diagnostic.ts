/**
 * `orientation-diagnostic`: which of five transformations was applied to an image?
 *
 * CodeVision, arXiv:2512.03746, §1 and Figure 1: 200 images of several domains, each turned by 90, 180 or
 * 270 degrees, or flipped horizontally or vertically, in equal shares; a choice of five. It takes no
 * tool: people see at once how an image lies, models do not.
 */
import { ConfigError, randomAt } from '@saccade/core';
import { count, textList } from '@saccade/core/settings';
import { defineTaskSet, type Split, type Task, type TaskSet } from '@saccade/gym';
import { z } from 'zod';
import { balancedChoice } from '../orientation/balanced.ts';
import { fiveTurns, type Pose } from '../orientation/pose.ts';
import { posedTask } from '../orientation/posed-task.ts';
import { baseTaskSet } from './base-task-set.ts';

/** Task sets whose upright images show how they lie: letters stand on their feet. */
const DOMAINS = ['charts-qa', 'documents', 'geometry-solve', 'maps', 'science'] as const;

const settings = z.strictObject({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of the order of transformations and choices.',
  }),
  images: count({
    min: 1,
    max: 1_000_000,
    default: 200,
    unit: 'images',
    about: 'Held-out tasks; train has a million.',
  }),
  domains: textList({
    unit: 'names of task sets',
    about: `Where images come from, in equal shares; none means ${DOMAINS.join(', ')}.`,
  }),
});

/** Facts of a task, in its metadata, beside those of a turned task. */
export interface DiagnosticFacts {
  readonly family: 'orientation-diagnostic';
  readonly difficulty: 1;
  /** The transformation of each letter from A to E. */
  readonly choices: readonly Pose[];
  /** The task whose image it is. */
  readonly of: string;
  /** The task set of that task. */
  readonly domain: string;
}

const TRAIN = 1_000_000;

/** The transformations in words; people say clockwise or not. */
const words: Readonly<Record<(typeof fiveTurns)[number], string>> = {
  rotate_90: 'turned by 90 degrees counter-clockwise',
  rotate_180: 'turned by 180 degrees',
  rotate_270: 'turned by 90 degrees clockwise',
  flip_horizontal: 'mirrored left to right',
  flip_vertical: 'mirrored top to bottom',
};

/** The five-way question of CodeVision's first figure. */
export const orientationDiagnostic = defineTaskSet({
  name: 'orientation-diagnostic',
  description: 'Say which of five turns and flips was applied to an image of some domain.',
  settings,
  create({ seed, images, domains }) {
    const names = domains.length === 0 ? DOMAINS : domains;
    if (new Set(names).size < names.length) {
      throw new ConfigError(
        'domains',
        `taskSet.domains: expected each name once, got ${names.join(', ')}.`,
      );
    }
    const sets = names.map((name) => baseTaskSet(name, []));
    return {
      size: (split) => (split === 'heldOut' ? images : TRAIN),
      task: (split, index) => makeTask(sets, seed, split, index),
    };
  },
});

async function makeTask(
  sets: readonly TaskSet[],
  seed: number,
  split: Split,
  index: number,
): Promise<Task> {
  const set = sets[index % sets.length] as TaskSet;
  const round = Math.floor(index / sets.length);
  const upright = await set.task(split, round);
  // Within a domain every five images have each transformation once.
  const pose = balancedChoice(fiveTurns, round, seed, 'diagnostic', split, set.name);
  const random = randomAt(seed, 'diagnostic-choices', split, index);
  const choices = random.shuffle(fiveTurns);
  const { images, metadata } = await posedTask(upright, pose);
  const listed = choices.map((each, at) => `${letterOf(at)}. It was ${words[each]}.`);
  const facts: DiagnosticFacts = {
    family: 'orientation-diagnostic',
    difficulty: 1,
    choices,
    of: upright.id,
    domain: set.name,
  };
  const { orientation, toCanonical, source, sources } = metadata;
  return {
    id: `orientation-diagnostic-${split}-${String(index).padStart(6, '0')}`,
    question:
      'This image was upright. What was done to it? Answer with the letter alone.\n' +
      listed.join('\n'),
    images,
    answer: letterOf(choices.indexOf(pose)),
    metadata: {
      ...facts,
      orientation,
      toCanonical,
      requiredTools: [],
      needsSearch: false,
      ...((source ?? sources) !== undefined && { source: source ?? sources }),
    },
  };
}

const letterOf = (index: number): string => 'ABCDE'.charAt(index);
