import { ConfigError } from '@saccade/core';
import { type ToolResult, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { presetTerms } from './registry.ts';
import type { GroupReward, Reward } from './reward.ts';
import { accuracy } from './rewards/accuracy.ts';
import { RewardError, type Scoring, scoreGroup, scoreTrajectory } from './score.ts';
import { raised, type Step, trajectoryOf } from './trajectories.fixture.ts';
import { boxedContent, judge } from './verdict.ts';
import { exact } from './verifiers/exact.ts';
import { numeric } from './verifiers/numeric.ts';

const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 1, wallMs: 1 };
const task = { answer: '7', metadata: {} };
const scoring: Scoring = { verifier: exact, terms: presetTerms('pyvision') };

function trajectory(
  toolTurns: number,
  answer: string,
  said = `<answer>${answer}</answer>`,
): Trajectory {
  const made = new TrajectoryBuilder({ id: 't/0', taskId: 't', sampleIndex: 0 });
  made.prompt({ tokens: Int32Array.of(1), images: [], text: 'which digit' });
  const speak = (text: string): void => {
    made.model({ tokens: Int32Array.of(2), logprobs: Float32Array.of(-1), text, policyVersion: 0 });
  };
  for (let turn = 0; turn < toolTurns; turn++) {
    speak('<code>look()</code>');
    made.turn({ kind: 'code', code: 'look()' }, ran);
    made.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
  }
  speak(said);
  made.turn({ kind: 'answer', answer });
  return made.finish('answered');
}

function failed(): Trajectory {
  const made = new TrajectoryBuilder({ id: 't/9', taskId: 't', sampleIndex: 9 });
  return made.fail({ boundary: 'sandbox', message: 'no process' });
}

describe('scoreTrajectory with the terms of PyVision-RL', () => {
  // Hand-worked from eq. 1 of arXiv:2602.20739: 1 + 0.1 · n_tc if right, else 0.
  it.each([
    [4, '7', 1.4],
    [4, '3', 0],
    [2, '7', 1.2],
    [0, '7', 1],
    [0, '3', 0],
  ])('gives %d tool turns and the answer %s a reward of %d', (turns, answer, reward) => {
    const scored = scoreTrajectory(trajectory(turns, answer), task, scoring);
    expect(scored.reward).toBeCloseTo(reward, 14);
    expect(scored.isCorrect).toBe(answer === '7');
  });

  it('keeps every weighted term by name', () => {
    const scored = scoreTrajectory(trajectory(3, '7'), task, scoring);
    expect(scored.rewardTerms.accuracy).toBe(1);
    expect(scored.rewardTerms['accumulative-tool']).toBeCloseTo(0.3, 14);
    const terms = presetTerms('pyvision', { 'accumulative-tool': 0 });
    expect(scoreTrajectory(trajectory(3, '7'), task, { ...scoring, terms }).reward).toBe(1);
  });

  it('refuses two terms of one name', () => {
    const twice = { reward: accuracy, weight: 1 };
    const call = () =>
      scoreTrajectory(trajectory(0, '7'), task, { ...scoring, terms: [twice, twice] });
    expect(call).toThrow(ConfigError);
  });
});

describe('scoreGroup', () => {
  it('never scores what failed, before or while scoring', () => {
    const fragile: Reward = {
      ...accuracy,
      name: 'fragile',
      score: (one) => {
        if (one.turns.length === 2) throw new Error('judge timed out');
        return one.turns.length === 3 ? Number.NaN : 1;
      },
    };
    const group = {
      taskId: 't',
      trajectories: [trajectory(0, '7'), failed(), trajectory(1, '7'), trajectory(2, '7')],
    };
    const result = scoreGroup(group, task, {
      verifier: exact,
      terms: [{ reward: fragile, weight: 1 }],
    });
    expect(result.scored.trajectories.map((one) => one.reward)).toEqual([1]);
    expect(result.failed.map((one) => [one.stopReason, one.failure?.boundary])).toEqual([
      ['failed', 'sandbox'],
      ['failed', 'reward'],
      ['failed', 'reward'],
    ]);
    expect(result.failed[1]?.failure?.message).toMatch(
      /fragile broke on trajectory t\/0: judge timed/,
    );
    expect(() => scoreTrajectory(failed(), task, scoring)).toThrow(RewardError);
  });
});

describe('scoreGroup with a baseline', () => {
  const greedy = (answer: string): Trajectory => {
    return { ...trajectory(0, answer), id: 't/2', sampleIndex: 2, isBaseline: true };
  };
  const group = { taskId: 't', trajectories: [trajectory(0, '7'), trajectory(1, '3')] };

  it('scores it like the others, beside the group', () => {
    const { scored, failed } = scoreGroup({ ...group, baseline: greedy('7') }, task, scoring);
    expect(scored.trajectories).toEqual(scoreGroup(group, task, scoring).scored.trajectories);
    expect(scored.baseline).toMatchObject({ id: 't/2', reward: 1, isCorrect: true });
    expect(failed).toEqual([]);
  });

  it('compares it with the group, and the group not with it', () => {
    const seen: string[][] = [];
    const place: GroupReward = {
      ...accuracy,
      name: 'place',
      scope: 'group',
      score: ({ trajectories }) => {
        seen.push(trajectories.map(({ id }) => id));
        return trajectories.map((_, index) => index);
      },
    };
    const terms = [{ reward: place, weight: 1 }];
    const { scored } = scoreGroup({ ...group, baseline: greedy('7') }, task, { ...scoring, terms });
    expect(seen).toEqual([
      ['t/0', 't/0'],
      ['t/0', 't/0', 't/2'],
    ]);
    expect(scored.trajectories.map(({ reward }) => reward)).toEqual([0, 1]);
    expect(scored.baseline?.reward).toBe(2);
  });

  it('fails the group whose baseline failed: it has no advantages', () => {
    const broken = { ...failed(), isBaseline: true };
    const result = scoreGroup({ ...group, baseline: broken }, task, scoring);
    expect(result.scored).toEqual({ taskId: 't', trajectories: [] });
    expect(result.failed.map(({ failure }) => failure)).toEqual([
      { boundary: 'sandbox', message: 'no process' },
      { boundary: 'sandbox', message: 'The baseline of its group failed: no process' },
      { boundary: 'sandbox', message: 'The baseline of its group failed: no process' },
    ]);
  });
});

describe('judge', () => {
  const verdict = (answer: string, said?: string) => judge(trajectory(0, answer, said), '7', exact);

  it('compares what is boxed, or the answer as it is', () => {
    expect(verdict('\n\\boxed{7}\n')).toEqual({ isCorrect: true, score: 1, answer: '7' });
    expect(verdict(' 7. ').isCorrect).toBe(true);
    expect(verdict('\\boxed{3}')).toEqual({ isCorrect: false, score: 0, answer: '3' });
    expect(judge(trajectory(0, '7'), '7', exact, { requireBox: true }).refusal).toBe('notBoxed');
  });

  it('refuses unbalanced and nested tags, and an answer of 1000 characters, as wrong', () => {
    expect(verdict('7', '<answer>7</answer></answer>').refusal).toBe('unbalancedTags');
    expect(verdict('7', 'I shall <answer> <answer>7</answer>').refusal).toBe('unbalancedTags');
    expect(verdict('<image_clue_1> 7', 'x').refusal).toBe('nestedTags');
    const long = `${' '.repeat(999)}7`;
    expect(verdict(long)).toEqual({ isCorrect: false, score: 0, refusal: 'tooLong' });
    expect(verdict(long.slice(1)).isCorrect).toBe(true);
  });

  it('calls no answer wrong', () => {
    expect(judge(failed(), '7', exact)).toEqual({
      isCorrect: false,
      score: 0,
      refusal: 'noAnswer',
    });
  });
});

describe('boxedContent', () => {
  it('balances braces and takes the last box', () => {
    expect(boxedContent('\\boxed{1} then \\boxed{\\frac{3}{4}}')).toBe('\\frac{3}{4}');
    expect(boxedContent('\\boxed{1')).toBeUndefined();
    expect(boxedContent('7')).toBeUndefined();
  });
});

describe('verifiers', () => {
  it.each([
    ['Left  side', 'left side', 1],
    ['A.', 'a', 1],
    ['.', '.', 1],
    ['7.0', '7', 0],
  ])('exact: "%s" for "%s" is %d', (answer, expected, score) => {
    expect(exact.verify(answer, expected)).toBe(score);
  });

  it.each([
    ['7.0', '7', 1],
    ['1,024', '1024', 1],
    ['1,02', '102', 0],
    ['-.5', '-0.5', 1],
    ['\u22123', '-3', 1],
    ['0.3333333', '0.3333334', 1],
    ['0.333', '0.334', 0],
    ['7 cm', '7', 0],
    ['', '0', 0],
    ['e5', '0', 0],
  ])('numeric: "%s" for "%s" is %d', (answer, expected, score) => {
    expect(numeric.verify(answer, expected)).toBe(score);
  });
});

describe('rewards of turns', () => {
  const failing: Step = { code: 'x', result: raised };
  const cut = (steps: readonly Step[]): Trajectory => {
    const { turns, segments, answer: _, ...whole } = trajectoryOf(steps);
    return {
      ...whole,
      turns: turns.slice(0, -1),
      segments: segments.slice(0, -2),
      stopReason: 'invalidAction',
    };
  };
  const turnRewardsOf = (trajectory: Trajectory): readonly number[] | undefined => {
    const scoring = { verifier: exact, terms: presetTerms('codedance') };
    const group = { taskId: 't', trajectories: [trajectory] };
    const task = { answer: '7', metadata: {} };
    return scoreGroup(group, task, scoring).scored.trajectories[0]?.turnRewards;
  };

  it('end with the answer’s, also where no answer came', () => {
    expect(turnRewardsOf(trajectoryOf([failing]))).toEqual([-0.5, 0]);
    expect(turnRewardsOf(cut([{ code: 'y' }, failing]))).toEqual([0, -0.5, 0]);
    expect(turnRewardsOf(cut([failing]))).toEqual([-0.5, 0]);
  });
});
