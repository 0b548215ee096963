/** The behavior of a demonstrator of `tool-needle`: which tools it calls, and with which mistakes. */
import type { Random } from '@saccade/core';
import {
  type Box,
  codeTool,
  inverseTurn,
  type ToolNeedleFacts,
  type TurnTool,
  turnBox,
  turnTools,
} from '@saccade/gym';
import {
  imageAdjustTool,
  imageFlipTool,
  imageResizeTool,
  imageRotateTool,
  imageZoomInTool,
} from '@saccade/tools';
import type { Act } from './act.ts';
import { type DemonstrationMix, planLooks } from './behavior.ts';

/**
 * How demonstrations choose tools. Most of their calls are sound, but some answer without one, some
 * call a tool that does not help, and some calls are refused before they are made right. That is left
 * for reinforcement learning to improve.
 */
export interface ToolMix extends DemonstrationMix {
  /** Probability of leaving a turned image as it is. */
  readonly leaveTurned: number;
  /** Probability of calling a tool first that does not help. */
  readonly wrongTool: number;
  /** Probability, after that, of answering instead of calling the right one. */
  readonly answerAfterWrongTool: number;
  /** Probability that the first call that would help is refused for a mistake, and made again. */
  readonly slip: number;
  /** Calls at most; later ones are left out. */
  readonly maxCalls: number;
}

/** The tools that demonstrations call, by name. */
export const demonstratedTools: readonly string[] = [
  imageZoomInTool.name,
  imageRotateTool.name,
  imageFlipTool.name,
  codeTool,
  imageResizeTool.name,
  imageAdjustTool.name,
];

/** The calls before the answer, in order. Indices of images count all that calls have shown. */
export function planTools(
  facts: ToolNeedleFacts,
  mix: ToolMix,
  random: Random,
  size: number,
): readonly Act[] {
  if (random.uniform() < mix.answerWithoutLooking) return [];
  const acts: Act[] = [];
  if (random.uniform() < mix.wrongTool) {
    acts.push(random.pick(wrongCalls(facts, size)));
    if (random.uniform() < mix.answerAfterWrongTool) return acts.slice(0, mix.maxCalls);
  }
  const isSlip = random.uniform() < mix.slip;
  const right = rightCalls(facts, mix, random, { size, shown: shownBy(acts) });
  const [first] = right;
  if (isSlip && first !== undefined) {
    const slip = random.pick(slipsOf(first));
    return [...acts, slip, { ...first, thought: again }, ...right.slice(1)].slice(0, mix.maxCalls);
  }
  return [...acts, ...right].slice(0, mix.maxCalls);
}

/** Images that calls have shown. */
function shownBy(acts: readonly Act[]): number {
  return acts.reduce((sum, { images = 1 }) => sum + images, 0);
}

function rightCalls(
  facts: ToolNeedleFacts,
  mix: ToolMix,
  random: Random,
  { size, shown }: { readonly size: number; readonly shown: number },
): readonly Act[] {
  const { kind, turn } = facts;
  if (kind === 'code') return [readCall];
  const looks = planLooks(facts, { ...mix, answerWithoutLooking: 0 }, random);
  if (turn === undefined) return looks.map((box) => zoomCall(box, 0));
  if (random.uniform() < mix.leaveTurned) {
    return looks.map((box) => zoomCall(turnBox(inverseTurn(turn), size, box), 0));
  }
  // The first image is the task's.
  return [turnCall(turn), ...looks.map((box) => zoomCall(box, 1 + shown))];
}

/** Calls of tools that are there and do not help with this task. */
function wrongCalls({ kind, turn, codeBox }: ToolNeedleFacts, size: number): readonly Act[] {
  const others = [
    call(imageResizeTool.name, 'change', { scale: 0.5 }, 'The picture is large.'),
    call(imageAdjustTool.name, 'change', { contrast: 2 }, 'The picture is dark.'),
  ];
  if (kind === 'digit' && turn !== undefined) return [readCall, ...others];
  const turns = turnTools.map(turnCall);
  if (kind === 'digit') return [readCall, ...others, ...turns];
  const back = turn === undefined ? undefined : inverseTurn(turn);
  return [zoomCall(turnBox(back, size, codeBox), 0), ...others, ...turns];
}

const again = 'The call was wrong.';

/** The same call with a mistake each: another name, an argument left out, misnamed or of another type. */
function slipsOf(act: Act): readonly Act[] {
  const { action } = act;
  if (action.kind !== 'toolCall') return [];
  const { task, ...given } = action.arguments;
  const refused = (name: string, changed: Readonly<Record<string, unknown>>): Act => {
    const made = { ...action, name, arguments: { ...changed, task } };
    return { ...act, action: made, images: 0, isRefused: true };
  };
  const { name } = action;
  const [needed] = Object.keys(given);
  const unknown = refused(misnamed[name] ?? 'look_tool', given);
  if (needed === undefined) return [unknown, refused(name, { bbox_2d: [0, 0, 28, 28] })];
  const { [needed]: value, ...rest } = given;
  return [
    unknown,
    refused(name, rest),
    refused(name, { box: value, ...rest }),
    refused(name, { [needed]: 'here', ...rest }),
  ];
}

/** Names that a model may take a tool to have. */
const misnamed: Readonly<Record<string, string>> = {
  [imageZoomInTool.name]: 'image_crop_tool',
  [imageRotateTool.name]: 'image_turn_tool',
  [imageFlipTool.name]: 'image_turn_tool',
  [codeTool]: 'code_tool',
};

function call(
  name: string,
  task: string,
  given: Readonly<Record<string, unknown>>,
  thought: string,
  images = 1,
): Act {
  return {
    kind: 'act',
    action: { kind: 'toolCall', name, arguments: { ...given, task } },
    thought,
    images,
  };
}

/** Reads the codes of the task's image. */
const readCall: Act = call(codeTool, 'read', {}, 'There is a code.', 0);

/** Cuts a box out of an image. */
function zoomCall(box: Box, image: number): Act {
  const given = { bbox_2d: [...box], image_index: image };
  return call(imageZoomInTool.name, 'look', given, 'There is a card.');
}

/** Turns or flips the task's image. */
function turnCall(tool: TurnTool): Act {
  const [what, how = ''] = tool.split('_');
  if (what === 'flip') {
    return call(imageFlipTool.name, 'turn', { direction: how }, 'The picture is mirrored.');
  }
  return call(imageRotateTool.name, 'turn', { angle: Number(how) }, 'The picture is turned.');
}
