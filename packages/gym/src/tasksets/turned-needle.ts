/**
 * `turned-needle`: which digit is hidden in the image, which may lie on its side?
 *
 * The tables of `needle`, most of them turned by a quarter, a half or three quarters, or flipped, in
 * equal shares. A turned digit reads as another one, or as none, so the image has to be turned back
 * before the look. What shows how it lies is the colored light: upright, red comes from the right and
 * green from below. On some upright tables the digit is printed large: they take no tool at all.
 */
import { randomAt } from '@saccade/core';
import { flag, quantity, type SettingsOf } from '@saccade/core/settings';
import { z } from 'zod';
import { defineTaskSet, type TaskSetUnit } from '../define-task-set.ts';
import type { Split, Task, TaskSet } from '../task.ts';
import { type Box, printLarge } from './draw-needle.ts';
import {
  checkNeedle,
  drawNeedle,
  emptyCells,
  type NeedleFacts,
  needleSettings,
  needleTask,
  taskId,
} from './needle.ts';
import { inverseTurn, type TurnMap, type TurnTool, turnImage, turnMap, turnTools } from './turn.ts';

const TASKS = 1_000_000;

/** The settings of `needle`, and how many tables are turned or easy. */
export function turnedNeedleSettings(defaults: {
  readonly turnedShare: number;
  readonly easyShare: number;
  readonly isLit?: boolean;
}) {
  const { isLit = true } = defaults;
  return z.strictObject({
    ...needleSettings.shape,
    isLit: flag({
      default: isLit,
      about: 'Whether colored light falls on the table; it shows places and orientation.',
    }),
    turnedShare: quantity({
      min: 0,
      max: 1,
      default: defaults.turnedShare,
      unit: 'fraction of tables',
      about: 'Tables that are turned or flipped.',
    }),
    easyShare: quantity({
      min: 0,
      max: 1,
      default: defaults.easyShare,
      unit: 'fraction of upright tables',
      about: 'Upright tables on which the digit is printed large as well.',
    }),
  });
}

export type TurnedNeedleSettings = SettingsOf<ReturnType<typeof turnedNeedleSettings>>;

/** Settings of a set of turned tables, with the name of the set. */
export interface TurnedNeedleOptions extends TurnedNeedleSettings {
  /** Name of the task set; part of its tasks' ids and random addresses. */
  readonly name: string;
}

/** Facts of a task, in its metadata; boxes are those of the table as it stands upright. */
export interface TurnedNeedleFacts extends NeedleFacts {
  /** `easy` where the overview shows the digit; `turned` where the image has to be turned first. */
  readonly difficulty: 'easy' | 'hard' | 'turned';
  /** The tools needed to solve the task, in order: a turn, a crop. */
  readonly requiredTools: readonly string[];
  /** Whether a part of the image has to be looked at. */
  readonly needsSearch: boolean;
  /** Whether the light shows how the image lies. */
  readonly isLit: boolean;
  /** From the given image to the upright one. */
  readonly toCanonical: TurnMap;
  /** The tool that makes it stand upright; none where it does. */
  readonly turn?: TurnTool;
  /** The cell with the large print. */
  readonly print?: Box;
}

/** A task set of turned tables under a name of its own. */
export function defineTurnedNeedle<const Name extends string>(
  name: Name,
  description: string,
  defaults: Parameters<typeof turnedNeedleSettings>[0],
): TaskSetUnit<ReturnType<typeof turnedNeedleSettings>> & { readonly name: Name } {
  return defineTaskSet({
    name,
    description,
    settings: turnedNeedleSettings(defaults),
    create(options) {
      checkNeedle(options);
      return {
        size: () => TASKS,
        task: (split, index) => makeTask({ ...options, name }, split, index),
      };
    },
  });
}

export const turnedNeedle = defineTurnedNeedle(
  'turned-needle',
  'The tables of needle turned or flipped: turn the image back, find the card and read it.',
  { turnedShare: 0.6, easyShare: 0.5 },
);

/** The task set with options that differ from the defaults. */
export function turnedNeedleWith(options: Partial<TurnedNeedleSettings> = {}): TaskSet {
  return turnedNeedle.with(options);
}

async function makeTask(options: TurnedNeedleOptions, split: Split, index: number): Promise<Task> {
  const { image, facts, ink, answer } = drawNeedle(options, split, index);
  const random = randomAt(options.seed, options.name, split, index);
  const isTurned = random.uniform() < options.turnedShare;
  const turn = isTurned ? random.pick(turnTools) : undefined;
  const isEasy = !isTurned && random.uniform() < options.easyShare;
  const print = isEasy ? random.pick(emptyCells(options, facts)) : undefined;
  if (print !== undefined) printLarge(image, print, ink);
  const given = turn === undefined ? image : turnImage(inverseTurn(turn), image);
  const look = isEasy ? [] : ['crop'];
  const metadata: TurnedNeedleFacts = {
    ...facts,
    difficulty: isEasy ? 'easy' : isTurned ? 'turned' : 'hard',
    requiredTools: turn === undefined ? look : [turn, ...look],
    needsSearch: !isEasy,
    isLit: options.isLit,
    toCanonical: turnMap(turn, image.width),
    ...(turn !== undefined && { turn }),
    ...(print !== undefined && { print }),
  };
  return needleTask(taskId(options.name, split, index), given, answer, { ...metadata });
}
