/**
 * `mvtool`: read print that covers a ten-thousandth of a sheet that is turned or mirrored.
 *
 * Counterpart of MVToolBench, CodeVision, arXiv:2512.03746, §4.1: words, lines and paragraphs that are too
 * small for the whole image, questions without any words for places, then one of five turns in equal
 * shares. So a task takes a turn, then a crop. Words are of real speeches and tables instead of signs on
 * photographs. Speeches, entries, photographs and typefaces of the held-out split are not in train.
 */
import { ConfigError, type Random, randomAt } from '@saccade/core';
import { count, quantity, type SettingsOf, textList } from '@saccade/core/settings';
import { type Box, defineTaskSet, type Split, type Task } from '@saccade/gym';
import { z } from 'zod';
import { balancedChoice } from '../orientation/balanced.ts';
import { fiveTurns, type Pose, posedPng, poses } from '../orientation/pose.ts';
import { type PoseFacts, poseFacts } from '../orientation/posed-task.ts';
import {
  askSmallPrint,
  drawLetterCount,
  type PrintLevel,
  type PrintOperation,
  type PrintProgram,
  type PrintQuestion,
  printOperations,
} from '../small-print/ask-small-print.ts';
import { type Broadsheet, drawBroadsheet, type SheetPlan } from '../small-print/broadsheet.ts';
import { cachedTasks, cacheSetting } from '../stored-tasks/task-cache.ts';
import { checkDifficulties, difficultySettings, drawDifficulty, someOf } from './difficulty.ts';

const settings = z.strictObject({
  ...difficultySettings('sheets, questions and turns', 'more blocks of small print'),
  width: count({
    min: 1600,
    max: 12_000,
    default: 6400,
    unit: 'pixels',
    about: 'Width of an upright sheet; it is three quarters as high.',
  }),
  typeSize: count({
    min: 8,
    max: 40,
    default: 10,
    unit: 'pixels',
    about: 'Font size of the small print.',
  }),
  largestShare: quantity({
    min: 0.00001,
    max: 0.01,
    default: 0.0001,
    unit: 'fraction of the sheet',
    about: 'Largest area of the word, line or paragraph that has to be read.',
  }),
  operations: textList({
    unit: 'kinds of questions',
    about: `Some of ${Object.keys(printOperations).join(', ')}; none means all.`,
  }),
  poses: textList({
    unit: 'poses',
    about: `Some of ${poses.join(', ')}, in equal shares; none means the five turns and flips.`,
  }),
  cache: cacheSetting,
});

type Settings = SettingsOf<typeof settings>;

/** Facts of a task, in its metadata, beside those of a turned task. */
export interface MvtoolFacts extends PoseFacts {
  readonly family: 'mvtool';
  /** 1 to 3. */
  readonly difficulty: number;
  readonly needsSearch: true;
  readonly level: PrintLevel;
  readonly program: PrintProgram;
  /** What has to be read, on the upright sheet; pixels. */
  readonly box: Box;
  readonly evidence: readonly Box[];
  /** The area of the box as a share of the sheet. */
  readonly share: number;
  readonly tolerance: number;
  readonly typeface: string;
  readonly sources: readonly string[];
}

const TASKS = 1_000_000;
/** Blocks of small print by difficulty 1 to 3. */
const blocksOf = [4, 9, 18] as const;
/** Questions that are drawn about one sheet before another is. */
const TRIES = 400;
/** Sheets that are drawn before settings are refused. */
const SHEETS = 8;

/** Turn the sheet, find the small print, and read it. */
export const mvtool = defineTaskSet({
  name: 'mvtool',
  description: 'Read tiny words, lines and paragraphs on sheets that are turned or mirrored.',
  settings,
  create(options) {
    checkDifficulties(options);
    const { cache, ...drawn } = options;
    const operations = someOf(
      'operations',
      options.operations,
      Object.keys(printOperations) as readonly PrintOperation[],
    );
    const chosen: readonly Pose[] =
      options.poses.length === 0 ? fiveTurns : someOf('poses', options.poses, poses);
    const plain = {
      size: () => TASKS,
      task: (split: Split, index: number) => makeTask(options, operations, chosen, split, index),
    };
    return cache === undefined ? plain : cachedTasks(plain, 'mvtool', drawn, cache);
  },
});

async function makeTask(
  options: Settings,
  operations: readonly PrintOperation[],
  chosen: readonly Pose[],
  split: Split,
  index: number,
): Promise<Task> {
  const { seed, width, typeSize, largestShare } = options;
  const random = randomAt(seed, 'mvtool', split, index);
  const difficulty = drawDifficulty(options, random);
  const pose = balancedChoice(chosen, index, seed, 'mvtool-pose', split);
  // Kinds of questions change slower than poses do, so that each kind has each pose as often.
  const round = Math.floor(index / chosen.length);
  const operation = balancedChoice(operations, round, seed, 'mvtool-operation', split);
  const plan = {
    width,
    height: Math.round(width * 0.75),
    typeSize,
    blocks: blocksOf[difficulty - 1] ?? blocksOf[0],
  };
  const { sheet, asked } = await askedSheet(split, plan, operation, largestShare, random);
  const { canvas } = sheet;
  const { question, answer, program, box, share } = asked;
  const upright = { name: 'image_clue_0', png: new Uint8Array(), ...sizeOf(canvas) };
  const metadata = { requiredTools: ['crop'], box, evidence: [box] };
  const facts: MvtoolFacts = {
    family: 'mvtool',
    difficulty,
    needsSearch: true,
    level: printOperations[operation],
    program,
    box,
    evidence: [box],
    share,
    tolerance: 0,
    typeface: sheet.typeface,
    sources: sheet.sources,
    ...poseFacts({ id: '', question, answer, images: [upright], metadata }, pose),
  };
  const pixels = { data: canvas.pixels, ...sizeOf(canvas), channels: 3 } as const;
  return {
    id: `mvtool-${split}-${String(index).padStart(6, '0')}`,
    question,
    images: [await posedPng(pose, 'image_clue_0', pixels)],
    answer,
    metadata: { ...facts },
  };
}

/** A sheet with a question about print that is small enough; most sheets have one. */
async function askedSheet(
  split: Split,
  plan: SheetPlan,
  operation: PrintOperation,
  largestShare: number,
  random: Random,
): Promise<{ readonly sheet: Broadsheet; readonly asked: PrintQuestion }> {
  const letterCount = drawLetterCount(random);
  for (let sheets = 0; sheets < SHEETS; sheets++) {
    const sheet = await drawBroadsheet(split, plan, random);
    for (let tries = 0; tries < TRIES; tries++) {
      const asked = askSmallPrint(sheet, operation, { largestShare, letterCount }, random);
      if (asked !== undefined) return { sheet, asked };
    }
  }
  throw new ConfigError(
    'largestShare',
    `taskSet.largestShare: no ${printOperations[operation]} covers at most ${largestShare} of a ` +
      `sheet ${plan.width} pixels wide in type of ${plan.typeSize} pixels. Give a wider sheet, ` +
      'smaller type or a larger share.',
  );
}

const sizeOf = ({ width, height }: { readonly width: number; readonly height: number }) => ({
  width,
  height,
});
