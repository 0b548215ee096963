/** The questions that judges get about a group, and what becomes of it when they fail. */

import { scriptedChat, textOf } from '@saccade/chat';
import { describe, expect, it } from 'vitest';
import { askWith } from './ask-judge.ts';
import { type GroupJudges, judgedInputs, judgeGroup } from './judge-group.ts';
import { answerJudge } from './judges/answer-judge.ts';
import { consistencyJudge } from './judges/consistency-judge.ts';
import { cropJudge } from './judges/crop-judge.ts';
import { processJudge } from './judges/process-judge.ts';
import { presetTerms } from './registry.ts';
import { RewardError, scoreGroup } from './score.ts';
import { raised, trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

const task = { answer: '7', question: 'Which digit?', metadata: {} };

/** Judges that reply with a grade, or with a sentence that is none. */
function judgesSaying(reply: (asked: string) => string) {
  const asked: string[] = [];
  const model = scriptedChat((messages) => {
    const text = textOf(messages);
    asked.push(text);
    return reply(text);
  });
  const judges: GroupJudges = {
    answer: askWith(answerJudge, model),
    crop: askWith(cropJudge, model),
    process: askWith(processJudge, model),
    consistency: askWith(consistencyJudge, model),
  };
  return { judges, asked };
}

async function score(
  preset: string,
  trajectories: Parameters<typeof scoreGroup>[0]['trajectories'],
  judges: GroupJudges,
) {
  const scoring = { verifier: exact, terms: presetTerms(preset) };
  const group = { taskId: 't', trajectories };
  const { verifier, judged } = await judgeGroup(group, task, scoring, judges);
  return scoreGroup(group, task, { ...scoring, verifier }, judged);
}

describe('judges of a group', () => {
  it('are asked for what the terms need, and for nothing else', () => {
    const inputs = (preset: string) => [...judgedInputs(presetTerms(preset))];
    expect(inputs('codev')).toEqual(['stepScores']);
    expect(inputs('codev/code')).toEqual(['judgeScores.process']);
    expect(inputs('thyme')).toEqual(['judgeScores.consistency']);
    expect(inputs('codevision')).toEqual([]);
  });

  it('grade thought and answer for Thyme, the end of the thought alone', async () => {
    const long = `${'first I look '.repeat(100)}so it is a seven`;
    const one = trajectoryOf([], { answerText: `<think>${long}</think><answer>7</answer>` });
    const { judges, asked } = judgesSaying(() => '1');
    const { scored, failed } = await score('thyme', [one], judges);
    expect(failed).toEqual([]);
    expect(scored.trajectories[0]?.rewardTerms['judged-consistency']).toBe(0.5);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('so it is a seven');
    expect(asked[0]?.match(/first I look/g)?.length).toBeLessThan(45);
  });

  it('grade a trajectory as a whole for CodeV’s code', async () => {
    const one = trajectoryOf([{ code: 'image_clue_0.crop((0,0,9,9)).show()' }]);
    const { judges, asked } = judgesSaying(() => '0.75');
    const { scored } = await score('codev/code', [one], judges);
    expect(scored.trajectories[0]?.rewardTerms['judged-process']).toBe(0.375);
    expect(asked[0]).toContain('image_clue_0.crop');
    expect(asked[0]).toContain('Which digit?');
  });

  it('give an execution that brought no image nothing, without asking', async () => {
    const one = trajectoryOf([{ code: 'image_clue_0.crop((0,0,9,9)).show(', result: raised }]);
    const { judges, asked } = judgesSaying(() => '1');
    const { scored } = await score('codev', [one], judges);
    expect(scored.trajectories[0]?.rewardTerms.evidence).toBe(0);
    expect(asked).toEqual([]);
  });

  it('decide answers that the rules refuse', async () => {
    const { judges, asked } = judgesSaying(() => '1');
    const [right, worded] = [trajectoryOf([]), trajectoryOf([], { id: 't/1', answer: 'seven' })];
    const { scored } = await score('codev', [right, worded], judges);
    expect(scored.trajectories.map(({ isCorrect }) => isCorrect)).toEqual([true, true]);
    expect(asked).toHaveLength(1);
  });

  it('fail the trajectory they fail on, and no other', async () => {
    const thought = (text: string, id: string) =>
      trajectoryOf([], { id, answerText: `<think>${text}</think><answer>7</answer>` });
    const { judges } = judgesSaying((text) => (text.includes('muddled') ? 'Who knows.' : '1'));
    const group = [thought('seven', 't/0'), thought('muddled', 't/1')];
    const { scored, failed } = await score('thyme', group, judges);
    expect(scored.trajectories.map(({ id }) => id)).toEqual(['t/0']);
    expect(failed.map(({ id, failure }) => [id, failure?.boundary])).toEqual([['t/1', 'reward']]);
    expect(failed[0]?.failure?.message).toMatch(/consistency-judge: .* gave no grade in 2 replies/);
  });

  it('do not hide what is broken in this program', async () => {
    const { judges } = judgesSaying(() => '1');
    const broken = { ...judges, consistency: () => Promise.reject(new TypeError('a bug')) };
    const one = trajectoryOf([], { answerText: '<think>so</think><answer>7</answer>' });
    await expect(score('thyme', [one], broken)).rejects.toThrow(TypeError);
    await expect(score('thyme', [one], broken)).rejects.not.toThrow(RewardError);
  });
});
