import type { Message } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { defineReward } from './define-reward.ts';
import { scoreCompletions } from './score-completions.ts';
import { exact } from './verifiers/exact.ts';

const rewardsOf = (scores: ReturnType<typeof scoreCompletions>) =>
  scores.map(({ reward }) => reward);

const crop = { id: 'a', function: { name: 'python', arguments: { code: 'x.crop((1,2,3,4))' } } };
const looked: readonly Message[] = [
  { role: 'assistant', content: 'Closer.', tool_calls: [crop] },
  { role: 'tool', tool_call_id: 'a', content: 'shown' },
  { role: 'assistant', content: 'It is \\boxed{7}' },
];

describe('the rewards of completions', () => {
  it('are those of a preset, for text and for messages, in order', () => {
    const scores = scoreCompletions(
      {
        prompts: ['Which digit?', 'Which digit?', 'Which color?'],
        completions: [looked, '<answer>3</answer>', 'Let me see.\nred'],
        answers: ['7', '7', 'red'],
      },
      { reward: 'pyvision' },
    );
    // R = R_acc + 0.1 · n_tc · 1{R_acc = 1}
    expect(rewardsOf(scores)).toEqual([1.1, 0, 1]);
    const ids = scores.map((one) => (one.reward === undefined ? '' : one.trajectory.id));
    expect(ids).toEqual(['task-0/0', 'task-0/1', 'task-1/0']);
  });

  it('compare the completions of one prompt, wherever they stand', () => {
    const rank = defineReward({
      ...{ name: 'rank', scope: 'group', description: 'Place in its group.', paper: 'none' },
      range: [0, 10],
      score: ({ trajectories }) => trajectories.map((_, index) => index),
    });
    const shown = (): readonly Message[] => [
      { role: 'user', content: [{ type: 'text', text: 'Q' }] },
    ];
    const scores = scoreCompletions(
      {
        prompts: [shown(), 'Q', shown(), 'Q', shown()],
        completions: ['1', '1', '1', '1', '1'],
        answers: ['1', '1', '1', '1', '2'],
      },
      { reward: { verifier: exact, terms: [{ reward: rank, weight: 1 }] } },
    );
    expect(rewardsOf(scores)).toEqual([0, 0, 1, 1, 0]);
  });

  it('are missing with a message where one cannot be read, and the others keep theirs', () => {
    const bad: readonly Message[] = [{ role: 'user', content: 'what?' }];
    const scores = scoreCompletions(
      { prompts: ['Q', 'Q', 'Q'], completions: ['7', bad, ''], answers: ['7', '7', '7'] },
      { reward: 'pyvision' },
    );
    expect(rewardsOf(scores)).toEqual([1, undefined, 0]);
    expect(scores[1]).toMatchObject({
      message: expect.stringMatching(/^completions\[1\]: messages/),
    });
  });

  it('do not count tokens that no tokenizer has read', () => {
    const lists = { prompts: ['Q'], completions: ['a b c'], answers: ['a b c'] };
    const [without] = scoreCompletions(lists, { reward: 'dapo' });
    expect(without).toMatchObject({ message: expect.stringMatching(/Pass `encode`/) });
    const encode = (text: string) => text.split(' ').map((_, index) => index);
    expect(rewardsOf(scoreCompletions(lists, { reward: 'dapo', encode }))).toEqual([1]);
  });

  it('refuse lists of other lengths and unknown rewards', () => {
    const lists = { prompts: ['Q'], completions: ['a', 'b'], answers: ['a', 'b'] };
    expect(() => scoreCompletions(lists, { reward: 'pyvision' })).toThrow(
      /2 completions and 1 prompts/,
    );
    const one = { prompts: ['Q'], completions: ['a'], answers: ['a'] };
    expect(() => scoreCompletions(one, { reward: 'pyvison' })).toThrow(/pyvision/);
  });
});
