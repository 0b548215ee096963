import { describe, expect, it } from 'vitest';
import { answerIn } from './response.ts';

describe('the answer in a response', () => {
  it.each([
    ['<think>3 or 4</think><answer>4</answer>', '4'],
    ['<answer>3</answer> no, <answer>\\boxed{4}</answer>', '4'],
    ['First \\boxed{3}, then \\boxed{\\frac{1}{2}}.', '\\frac{1}{2}'],
    ['Let me see.\n\n42\n', '42'],
    ['<think><answer>3</answer></think>\n5', '5'],
    ['<answer>3', undefined],
    ['<answer>3</answer></answer>', undefined],
    ['<answer></answer>', undefined],
    [' \n', undefined],
    [`<answer>${'7'.repeat(1000)}</answer>`, undefined],
    [`<answer>${'7'.repeat(999)}</answer>`, '7'.repeat(999)],
  ])('%j is %j', (response, answer) => {
    expect(answerIn(response)).toBe(answer);
  });
});
