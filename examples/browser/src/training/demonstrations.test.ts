import { QwenProcessor } from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import type { Trajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { createLookingEnv } from '../environment/looking-env.ts';
import { cardsTask, factsOf } from '../task/cards.ts';
import { makeTokenizer } from './corpus.ts';
import { type DemonstrationMix, demonstrate, guide, tourMix } from './demonstrations.ts';
import { imageConfig } from './image-config.ts';

const options = { cells: 4, cards: 2, symbols: 4 };
const processor = new QwenProcessor(makeTokenizer(options), imageConfig(options));
const tasks = Array.from({ length: 12 }, (_, index) => cardsTask(options, 'train', index));
const careless: DemonstrationMix = {
  answerWithoutLooking: 0.5,
  lookAtNothing: 0.5,
  answerAfterSeeing: 0.5,
  answerAfterMissing: 0.5,
  zoomInstead: 0.5,
};

function demonstrations(mix: DemonstrationMix): Promise<readonly Trajectory[]> {
  return demonstrate(tasks, {
    makeEnv: () => createLookingEnv({ toolCalls: 3 }),
    processor,
    images: new ModelImages(processor),
    mix,
    cells: options.cells,
    toolCalls: 3,
    seed: 1,
  });
}

/** Boxes of the looks, in the first image's frame. */
function looksOf({ segments }: Trajectory): readonly string[] {
  return segments
    .filter(({ kind }) => kind === 'observation')
    .flatMap(({ images }) => images)
    .map(({ origin, width, height }) => {
      const [, , left, , , top] = origin?.map ?? [1, 0, 0, 0, 1, 0];
      return [left, top, left + width, top + height].join();
    });
}

describe('demonstrate', () => {
  it('tours cards until the symbol was seen, then says what it is', async () => {
    for (const [index, tour] of (await demonstrations(tourMix(careless))).entries()) {
      const task = tasks[index];
      if (task === undefined) throw new Error('a tour has a task');
      const { box, cards } = factsOf(task);
      expect(looksOf(tour)).toContain(box.join());
      for (const look of looksOf(tour)) expect(cards.map((card) => card.join())).toContain(look);
      expect(tour).toMatchObject({ taskId: task.id, stopReason: 'answered', answer: task.answer });
    }
  });

  it('writes calls that run, also where it is careless', async () => {
    const shown = await demonstrations(careless);
    const turns = shown.flatMap((one) => one.turns);
    for (const { result } of turns) expect(result?.kind ?? 'ok').toBe('ok');
    const counts = new Set(shown.map((one) => one.turns.length));
    expect(counts.size).toBeGreaterThan(1);
    const calls = turns.flatMap(({ action }) => (action.kind === 'code' ? [action.code] : []));
    expect(calls.some((code) => code.includes('"zoom"'))).toBe(true);
    expect(calls.some((code) => code.includes('"crop"'))).toBe(true);
  });
});

describe('guide', () => {
  it('keeps every token in its order and takes the decisions out of the loss', async () => {
    for (const tour of await demonstrations(tourMix(careless))) {
      const guided = guide(tour, processor);
      const all = ({ segments }: Trajectory) => segments.flatMap(({ tokens }) => [...tokens]);
      expect(all(guided)).toEqual(all(tour));
      const trained = guided.segments.filter(({ kind }) => kind === 'model');
      for (const { tokens } of trained) {
        const text = processor.decode(tokens);
        expect(text).not.toMatch(/<tool_call>|<answer>/);
        expect(text).toMatch(/<\/tool_call>$|<\/answer>$/);
      }
    }
  });
});

describe('the tokenizer', () => {
  it('decides whether to look, with which tool and where in tokens of their own', () => {
    const pieces = (text: string) =>
      [...processor.encodeModelText(text, false)].map((token) => processor.codec.decode([token]));
    expect(
      pieces('<tool_call>{"name":"crop","arguments":{"box":[28,0,56,28]}}</tool_call>'),
    ).toEqual([
      '<tool_call>{"name":"',
      'crop","arguments":{"box":[',
      ...['2', '8', ',', '0', ',', '5', '6', ',', '2', '8'],
      ']}}</tool_call>',
    ]);
    expect(pieces('<answer>ring</answer>')).toEqual(['<answer>', 'ring', '</answer>']);
  });
});
