/**
 * `turned-needle`: which digit is hidden in the picture, which may lie on its side?
 *
 * The tables of `needle`, most of them turned by a quarter, a half or three quarters, or flipped, in
 * equal shares. A turned digit reads as another one, or as none, so the picture has to be turned back
 * before the look. What shows how it lies is the coloured light: upright, red comes from the right and
 * green from below. On some upright tables the digit is printed large: they take no tool at all.
 */
import { ConfigError, randomAt } from '@saccade/core';
import type { Split, Task, TaskSet } from '../task.ts';
import { type Box, printLarge } from './draw-needle.ts';
import {
  defaultNeedle,
  drawNeedle,
  type NeedleFacts,
  type NeedleOptions,
  needleTask,
  taskId,
} from './needle.ts';
import {
  inverseTurn,
  type TurnMap,
  type TurnTool,
  turnMap,
  turnPicture,
  turnTools,
} from './turn.ts';

export interface TurnedNeedleOptions extends NeedleOptions {
  readonly name: string;
  /** Share of tables that are turned or flipped. */
  readonly turnedShare: number;
  /** Share, of the tables that stand upright, on which the digit is printed large as well. */
  readonly easyShare: number;
}

/** Facts of a task, in its metadata; boxes are those of the table as it stands upright. */
export interface TurnedNeedleFacts extends NeedleFacts {
  /** `easy` where the overview shows the digit; `turned` where the picture has to be turned first. */
  readonly difficulty: 'easy' | 'hard' | 'turned';
  /** What the task cannot be solved without, in order: a turn, a crop. */
  readonly requiredTools: readonly string[];
  /** Whether a part of the picture has to be looked at. */
  readonly needsSearch: boolean;
  /** Whether the light shows how the picture lies. */
  readonly isLit: boolean;
  /** From the given picture to the upright one. */
  readonly toCanonical: TurnMap;
  /** The tool that makes it stand upright; none where it does. */
  readonly turn?: TurnTool;
  /** The cell with the large print. */
  readonly print?: Box;
}

const TASKS = 1_000_000;

export const defaultTurnedNeedle: TurnedNeedleOptions = {
  ...defaultNeedle,
  name: 'turned-needle',
  turnedShare: 0.6,
  easyShare: 0.5,
};

/** The task set with options that differ from the defaults. */
export function turnedNeedleWith(options: Partial<TurnedNeedleOptions> = {}): TaskSet {
  const settings: TurnedNeedleOptions = { ...defaultTurnedNeedle, ...options };
  for (const share of ['turnedShare', 'easyShare'] as const) {
    if (settings[share] >= 0 && settings[share] <= 1) continue;
    throw new ConfigError(share, `${share} must be from 0 to 1, got ${settings[share]}.`);
  }
  return {
    name: settings.name,
    description:
      'The tables of needle turned or flipped: turn the picture back, find the card and read it.',
    size: () => TASKS,
    task: (split, index) => makeTask(settings, split, index),
  };
}

export const turnedNeedle: TaskSet = turnedNeedleWith();

async function makeTask(options: TurnedNeedleOptions, split: Split, index: number): Promise<Task> {
  const { picture, facts, ink, answer } = drawNeedle(options, split, index);
  const random = randomAt(options.seed, options.name, split, index);
  const isTurned = random.uniform() < options.turnedShare;
  const turn = isTurned ? random.pick(turnTools) : undefined;
  const isEasy = !isTurned && random.uniform() < options.easyShare;
  const print = isEasy ? random.pick(emptyCells(options, facts)) : undefined;
  if (print !== undefined) printLarge(picture, print, ink);
  const given = turn === undefined ? picture : turnPicture(inverseTurn(turn), picture);
  const look = isEasy ? [] : ['crop'];
  const metadata: TurnedNeedleFacts = {
    ...facts,
    difficulty: isEasy ? 'easy' : isTurned ? 'turned' : 'hard',
    requiredTools: turn === undefined ? look : [turn, ...look],
    needsSearch: !isEasy,
    isLit: options.isLit,
    toCanonical: turnMap(turn, picture.width),
    ...(turn !== undefined && { turn }),
    ...(print !== undefined && { print }),
  };
  return needleTask(taskId(options.name, split, index), given, answer, { ...metadata });
}

/** Cells without a card, whole. */
function emptyCells({ pitch }: NeedleOptions, { box, decoys, places }: NeedleFacts): Box[] {
  const taken = new Set([box, ...decoys].map(String));
  return places
    .filter((place) => !taken.has(String(place)))
    .map(([left, top]) => {
      const [x, y] = [Math.floor(left / pitch) * pitch, Math.floor(top / pitch) * pitch];
      return [x, y, x + pitch, y + pitch];
    });
}
