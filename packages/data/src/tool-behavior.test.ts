import { randomAt } from '@saccade/core';
import { type ToolNeedleFacts, toolNeedleWith, vista } from '@saccade/gym';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Act } from './act.ts';
import { demonstratedTools, planTools, type ToolMix } from './tool-behavior.ts';
import { expectedResults, stepTexts } from './turn-text.ts';

/** Right calls alone. */
const right: ToolMix = {
  answerWithoutLooking: 0,
  lookAtNothing: 0,
  answerAfterSeeing: 1,
  answerAfterMissing: 0,
  beginsAgain: false,
  maxLooks: 2,
  leaveTurned: 0,
  wrongTool: 0,
  answerAfterWrongTool: 0,
  slip: 0,
  maxCalls: 3,
};

let tasks: readonly ToolNeedleFacts[];
beforeAll(async () => {
  const set = toolNeedleWith({});
  const made = Array.from({ length: 60 }, (_, i) => set.task('train', i));
  tasks = (await Promise.all(made)).map(({ metadata }) => metadata as unknown as ToolNeedleFacts);
});

const plansOf = (mix: Partial<ToolMix>) =>
  tasks.map((facts, i) => {
    const acts = planTools(facts, { ...right, ...mix }, randomAt(3, 'test', i), 448);
    return { facts, acts, names: acts.map(nameOf) };
  });
const nameOf = ({ action }: Act): string => (action.kind === 'toolCall' ? action.name : '');
const argumentsOf = ({ action }: Act): Readonly<Record<string, unknown>> =>
  action.kind === 'toolCall' ? action.arguments : {};

describe('planTools', () => {
  it('calls what the question takes, the turn before the look at what it showed', () => {
    for (const { facts, acts, names } of plansOf({})) {
      for (const name of names) expect(facts.helpfulTools).toContain(name);
      if (facts.kind === 'code') expect(names).toEqual(['read_code']);
      else expect(argumentsOf(acts.at(-1) as Act).bbox_2d).toEqual(facts.cardBox);
      if (facts.turn === undefined) continue;
      const [turn, look] = acts.map(argumentsOf);
      const [what, how] = facts.turn.split('_');
      expect(turn).toMatchObject(what === 'flip' ? { direction: how } : { angle: Number(how) });
      expect(look?.image_index).toBe(1);
    }
  });

  it('calls another tool first where it is wrong, and counts the images that it showed', () => {
    const plans = plansOf({ wrongTool: 1 });
    for (const { facts, acts, names } of plans) {
      expect(facts.helpfulTools).not.toContain(names[0]);
      expect(facts.helpfulTools).toContain(names[1]);
      if (facts.turn === undefined) continue;
      const shown = names[0] === 'read_code' ? 1 : 2;
      expect(argumentsOf(acts[2] as Act).image_index).toBe(shown);
    }
    const kinds = new Set(plans.map(({ names }) => names[0]));
    expect([...kinds].sort()).toEqual([...demonstratedTools].sort());
    for (const { names } of plansOf({ wrongTool: 1, answerAfterWrongTool: 1 })) {
      expect(names).toHaveLength(1);
    }
  });

  it('makes a refused call again, without the mistake', () => {
    for (const { acts } of plansOf({ slip: 1 })) {
      const [slip, again] = acts as [Act, Act];
      expect([slip.isRefused, slip.images, again.isRefused]).toEqual([true, 0, undefined]);
      expect(argumentsOf(slip).task).toBe(argumentsOf(again).task);
      expect(slip.action).not.toEqual(again.action);
    }
  });

  it('keeps to the calls that there are, none included', () => {
    for (const { acts } of plansOf({ slip: 1, wrongTool: 1, maxCalls: 1 })) {
      expect(acts).toHaveLength(1);
    }
    for (const { acts } of plansOf({ maxCalls: 0 })) expect(acts).toEqual([]);
    for (const { acts } of plansOf({ answerWithoutLooking: 1 })) expect(acts).toEqual([]);
  });

  it('is written in VISTA’s words, a thought before every call', () => {
    const blank = { id: 'a', question: '?', answer: '7', images: [], metadata: {} };
    for (const { acts } of plansOf({ slip: 0.5, wrongTool: 0.5 })) {
      const texts = stepTexts(vista, blank, acts);
      texts.forEach((text, i) => {
        expect(text).toMatch(
          /^<think>The[^<]+\.<\/think>\n<tool_call>.*<\/tool_call>$|^<think>There/,
        );
        expect(vista.parse(text)).toEqual(acts[i]?.action);
      });
      const expected = expectedResults(vista, acts);
      acts.forEach((act, i) => {
        expect(expected[i]).toEqual(act.isRefused ? 'refused' : { images: act.images });
      });
    }
  });
});
