/**
 * `tool-needle`: questions that take different tools.
 *
 * The tables of `needle`, each with a QR code on an empty cell. The question is for the digit on the
 * card or for the number in the code, which looks the same to everyone and only a tool can read. Some
 * tables whose digit is asked for are turned or flipped, and have to be turned back before the look.
 */
import { ConfigError, type Random, randomAt } from '@saccade/core';
import { quantity, type SettingsOf } from '@saccade/core/settings';
import { imageFlipTool, imageRotateTool, imageZoomInTool } from '@saccade/tools';
import { z } from 'zod';
import { defineTaskSet } from '../define-task-set.ts';
import type { Split, Task, TaskSet } from '../task.ts';
import { CODE_SIZE, printCode } from './draw-code.ts';
import type { Box } from './draw-needle.ts';
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

/** Numbers in codes: three digits each. */
const [LEAST, NUMBERS] = [100, 900];
/** One number in so many is held out. */
const HELD_OUT_ONE_IN = 8;

/** The question for the number in the code; another wording is another policy. */
export const codeQuestion = 'Which number is in the code?';

/** The tool that reads codes, as `@saccade/vision-tools` has it. */
export const codeTool = 'read_code';

const share = (preset: number, unit: string, about: string) =>
  quantity({ min: 0, max: 1, default: preset, unit, about });

const settings = z.strictObject({
  ...needleSettings.shape,
  codeShare: share(0.35, 'fraction of tasks', 'Questions for the number in the code.'),
  turnedShare: share(
    0.5,
    'fraction of the other tasks',
    'Questions for the digit on tables that are turned or flipped.',
  ),
});

type Options = SettingsOf<typeof settings>;

/** Facts of a task, in its metadata; boxes are those of the table as it stands upright. */
export interface ToolNeedleFacts extends NeedleFacts {
  /** What is asked about: `box` is that of the digit or of the code. */
  readonly kind: 'code' | 'digit';
  /** Where the digit is, the middle of its card. */
  readonly cardBox: Box;
  /** Where the code is, with its white margin. */
  readonly codeBox: Box;
  /**
   * `easy` where a tool says the answer; `hard` where a part of the image has to be looked at and
   * read; `turned` where the image has to be turned before that.
   */
  readonly difficulty: 'easy' | 'hard' | 'turned';
  /** What the task takes, in order: a turn, a crop, or the name of a tool that answers in text. */
  readonly requiredTools: readonly string[];
  /** Names of the tools that help; a call of another is a call of a wrong tool. */
  readonly helpfulTools: readonly string[];
  readonly needsSearch: boolean;
  /** From the given image to the upright one. */
  readonly toCanonical: TurnMap;
  /** The tool that makes it stand upright; none where it does. */
  readonly turn?: TurnTool;
}

/** Questions for digits and for numbers in codes; `metadata` holds `ToolNeedleFacts`. */
export const toolNeedle = defineTaskSet({
  name: 'tool-needle',
  description:
    'A card to look at and a code to have read on one table: each question has its tool.',
  settings,
  create(options) {
    checkNeedle(options);
    checkRoom(options);
    return { size: () => TASKS, task: (split, index) => makeTask(options, split, index) };
  },
});

/** The task set with options that differ from the defaults. */
export function toolNeedleWith(options: Partial<Options> = {}): TaskSet {
  return toolNeedle.with(options);
}

/** @throws ConfigError for cells that are too small for a code */
function checkRoom({ pitch }: Options): void {
  if (pitch >= CODE_SIZE) return;
  throw new ConfigError(
    'pitch',
    `taskSet.pitch: expected at least ${CODE_SIZE}, which a code takes, got ${pitch}.`,
  );
}

async function makeTask(options: Options, split: Split, index: number): Promise<Task> {
  const { image, facts, answer } = drawNeedle(options, split, index);
  const random = randomAt(options.seed, toolNeedle.name, split, index);
  const isCode = random.uniform() < options.codeShare;
  const isTurned = !isCode && random.uniform() < options.turnedShare;
  const turn = isTurned ? random.pick(turnTools) : undefined;
  const number = String(drawCodeNumber(split, random));
  const [left, top, right] = random.pick(emptyCells(options, facts));
  const margin = Math.floor((right - left - CODE_SIZE) / 2);
  const codeBox = printCode(image, left + margin, top + margin, number);
  const metadata: ToolNeedleFacts = {
    ...facts,
    kind: isCode ? 'code' : 'digit',
    box: isCode ? codeBox : facts.box,
    cardBox: facts.box,
    codeBox,
    difficulty: isCode ? 'easy' : isTurned ? 'turned' : 'hard',
    ...toolsFor(isCode, turn),
    needsSearch: !isCode,
    toCanonical: turnMap(turn, image.width),
    ...(turn !== undefined && { turn }),
  };
  const given = turn === undefined ? image : turnImage(inverseTurn(turn), image);
  const id = taskId(toolNeedle.name, split, index);
  if (!isCode) return await needleTask(id, given, answer, { ...metadata });
  return await needleTask(id, given, number, { ...metadata }, codeQuestion);
}

function toolsFor(
  isCode: boolean,
  turn: TurnTool | undefined,
): Pick<ToolNeedleFacts, 'requiredTools' | 'helpfulTools'> {
  if (isCode) return { requiredTools: [codeTool], helpfulTools: [codeTool] };
  const zoom = imageZoomInTool.name;
  if (turn === undefined) return { requiredTools: ['crop'], helpfulTools: [zoom] };
  // A half turn is two flips, and two tools may do what one does.
  const turning = [imageRotateTool.name, imageFlipTool.name];
  return { requiredTools: [turn, 'crop'], helpfulTools: [...turning, zoom] };
}

/** The number of a code: three digits; the other split never has it. */
export function drawCodeNumber(split: Split, random: Random): number {
  for (;;) {
    const number = LEAST + random.integer(NUMBERS);
    if ((number % HELD_OUT_ONE_IN === 0) === (split === 'heldOut')) return number;
  }
}
