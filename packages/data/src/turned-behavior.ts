/** The behavior of a demonstrator of `turned-needle`: turning, looking and stopping. */
import type { Random } from '@saccade/core';
import {
  composeTurn,
  inverseTurn,
  type Step,
  type TurnedNeedleFacts,
  type TurnTool,
  turnBox,
  turnTools,
} from '@saccade/gym';
import { type DemonstrationMix, planLooks } from './behavior.ts';

/**
 * How demonstrations behave on tables that may be turned. Like those of `needle` they are sound, but
 * far from good: half of the turned images stay as they are, some tools are tried at random, and
 * upright images are turned.
 */
export interface TurnedMix extends DemonstrationMix {
  /** Probability of answering at once where the digit is printed large. */
  readonly answerEasyAtOnce: number;
  /** Probability of leaving a turned image as it is. */
  readonly leaveTurned: number;
  /** Probability, of those who turn, of trying another tool before the one that helps. */
  readonly tryAnother: number;
  /** Probability of turning an image that stands upright. */
  readonly turnUpright: number;
  /** Probability, after that, of turning it back. */
  readonly turnBack: number;
  /** Probability, in the dark, of a tool, and after it of another. */
  readonly tryInTheDark: number;
  /** Tools that are tried in the dark at most. */
  readonly mostTries: number;
}

/** The steps before the answer, in order; boxes lie in the image as it then stands. */
export function planTurned(
  facts: TurnedNeedleFacts,
  mix: TurnedMix,
  random: Random,
  size: number,
): readonly Step[] {
  if (facts.difficulty === 'easy' && random.uniform() < mix.answerEasyAtOnce) return [];
  if (facts.difficulty !== 'easy' && random.uniform() < mix.answerWithoutLooking) return [];
  const tools = facts.isLit
    ? planTurns(facts.turn, mix, random)
    : planTries(facts.turn, mix, random);
  const rest = tools.reduce<TurnTool | undefined>(remainder, facts.turn);
  const looks = planLooks(facts, { ...mix, answerWithoutLooking: 0 }, random);
  const back = rest === undefined ? undefined : inverseTurn(rest);
  return [
    ...tools.map((tool) => ({ kind: 'turn', tool }) as const),
    ...looks.map((box) => ({ kind: 'look', box: turnBox(back, size, box) }) as const),
  ];
}

function planTurns(
  turn: TurnTool | undefined,
  mix: TurnedMix,
  random: Random,
): readonly TurnTool[] {
  if (turn === undefined) {
    if (random.uniform() >= mix.turnUpright) return [];
    const tool = random.pick(turnTools);
    return random.uniform() < mix.turnBack ? [tool, inverseTurn(tool)] : [tool];
  }
  if (random.uniform() < mix.leaveTurned) return [];
  if (random.uniform() >= mix.tryAnother) return [turn];
  const other = random.pick(turnTools.filter((tool) => tool !== turn && isOneStep(turn, tool)));
  const last = remainder(turn, other);
  return last === undefined ? [other] : [other, last];
}

/** Nothing shows what helps, nor whether it did. */
function planTries(
  turn: TurnTool | undefined,
  { tryInTheDark, mostTries }: TurnedMix,
  random: Random,
): readonly TurnTool[] {
  const tools: TurnTool[] = [];
  let rest = turn;
  while (tools.length < mostTries && random.uniform() < tryInTheDark) {
    const needed = rest;
    const tool = random.pick(turnTools.filter((one) => isOneStep(needed, one)));
    tools.push(tool);
    rest = remainder(needed, tool);
  }
  return tools;
}

/** Whether one tool makes the image upright after another was tried. */
function isOneStep(turn: TurnTool | undefined, tried: TurnTool): boolean {
  return composeTurn(turn, inverseTurn(tried)) !== 'other';
}

/** The tool that is still needed after one was used; without one the image stands upright. */
function remainder(turn: TurnTool | undefined, used: TurnTool): TurnTool | undefined {
  const rest = composeTurn(turn, inverseTurn(used));
  return rest === 'other' ? undefined : rest;
}
