/** Hand-worked numbers of the five systems' rewards, from their equations and constants. */

import type { ScoredTrajectory, Trajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import type { Judged } from './context.ts';
import { makeContext } from './context.ts';
import { presetNamed, presetTerms } from './registry.ts';
import { balancedToolCall, toolCallIncentive } from './rewards/balanced-tool-call.ts';
import { inferredNecessity } from './rewards/suggested-tool.ts';
import { vistaDense } from './rewards/vista-dense.ts';
import { difficultyWeight, vistaDifficulty } from './rewards/vista-difficulty.ts';
import { vistaSparse } from './rewards/vista-sparse.ts';
import { scoreGroup } from './score.ts';
import { raised, type Step, trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

const look = (left: number): Step => ({
  code: `image_clue_0.crop((${left}, 0, ${left} + 50, 50)).show()`,
});
const looks = (count: number): readonly Step[] =>
  Array.from({ length: count }, (_, index) => look(60 * index));

function score(
  preset: string,
  trajectories: readonly Trajectory[],
  metadata: Readonly<Record<string, unknown>> = {},
  judged?: ReadonlyMap<string, Judged>,
): readonly ScoredTrajectory[] {
  const group = { taskId: 't', trajectories };
  const scoring = { verifier: exact, terms: presetTerms(preset) };
  const { scored, failed } = scoreGroup(group, { answer: '7', metadata }, scoring, judged);
  expect(failed.map(({ failure }) => failure?.message)).toEqual([]);
  return scored.trajectories;
}

const rewardOf = (preset: string, trajectory: Trajectory, metadata = {}): number =>
  score(preset, [trajectory], metadata)[0]?.reward ?? Number.NaN;

describe('CodeDance', () => {
  it.each([
    [0, 0.6808, 0.782],
    [0.125, 0.6176, 0.7526],
    [0.25, 0.5311, 0.6808],
    [0.5, 0.3, 0.3],
    [0.75, 0.0689, -0.0808],
    [0.875, -0.0176, -0.1526],
    [1, -0.0808, -0.182],
  ])('at a group accuracy of %d a call is worth %d, in the code %d', (mu, paper, code) => {
    expect(toolCallIncentive(mu, balancedToolCall.values)).toBeCloseTo(paper, 4);
    const theirs = { ...balancedToolCall.values, doubleSteepness: true };
    expect(toolCallIncentive(mu, theirs)).toBeCloseTo(code, 4);
    expect(presetNamed('codedance/code').terms[2]?.reward.values).toMatchObject({
      doubleSteepness: true,
    });
  });

  it('pays R_seq by answer and by the share of calls that ran', () => {
    const steps: readonly Step[] = [look(0), { ...look(60), result: raised }, look(120)];
    const [right, wrong, rightPlain, wrongPlain] = score('codedance', [
      trajectoryOf(steps, { id: 't/0' }),
      trajectoryOf(steps, { id: 't/1', answer: '3' }),
      trajectoryOf([], { id: 't/2' }),
      trajectoryOf([], { id: 't/3', answer: '3' }),
    ]);
    expect(right?.rewardTerms['balanced-tool-call']).toBeCloseTo(0.3, 12);
    expect(wrong?.rewardTerms['balanced-tool-call']).toBeCloseTo(0.1, 12);
    expect(rightPlain?.rewardTerms['balanced-tool-call']).toBe(0);
    expect(right?.reward).toBeCloseTo(1.3, 12);
    expect(wrongPlain?.reward).toBe(0);
  });

  it('keeps what turns get apart from the reward', () => {
    const failed = { ...look(0), result: raised };
    const all = score('codedance', [
      trajectoryOf([failed, look(0)], { id: 't/0' }),
      trajectoryOf([look(0), failed], { id: 't/1' }),
      trajectoryOf([failed, failed], { id: 't/2' }),
      trajectoryOf([look(0)], { id: 't/3' }),
    ]);
    expect(all.map(({ turnRewards }) => turnRewards)).toEqual([
      [-0.5, 0, 0],
      [0, -0.5, 0],
      [-0.5, -0.5, 0],
      [0, 0],
    ]);
    for (const { reward, rewardTerms } of all) {
      expect(rewardTerms).not.toHaveProperty('execution-penalty');
      const sum = Object.values(rewardTerms).reduce((total, value) => total + value, 0);
      expect(reward).toBeCloseTo(sum, 12);
    }
  });

  it('does not pay for code of nothing but comments, as its public code does', () => {
    const idle = trajectoryOf([{ code: '# I look at the picture' }]);
    expect(score('codedance', [idle])[0]?.rewardTerms['balanced-tool-call']).toBe(0);
    expect(score('codedance/code', [idle])[0]?.rewardTerms['balanced-tool-call']).not.toBe(0);
  });
});

describe('PyVision-RL', () => {
  it.each([
    [4, '7', 1.4],
    [4, '3', 0],
    [0, '7', 1],
  ])('gives %d looks and the answer %s a reward of %d', (count, answer, reward) => {
    const made = trajectoryOf(looks(count), { answer });
    expect(rewardOf('pyvision', made)).toBeCloseTo(reward, 14);
    expect(rewardOf('pyvision-rl', made)).toBeCloseTo(reward, 14);
  });
});

describe('VISTA-R1', () => {
  const call = '<think>see</think><tool_call>{"tool": "EasyOCR", "task": "read"}</tool_call>';
  const turn = (text: string): Step => ({ code: 'x', text });
  const repeated = `<think>${'one two three four five. '.repeat(5)}</think>`;

  it.each<[string, readonly Step[], string, string | undefined, number]>([
    ['clean, well-formed, right', [turn(call)], '7', undefined, 2],
    ['well-formed, wrong', [turn(call)], '3', undefined, 1],
    ['malformed, though right', [turn(`${call} and more`)], '7', undefined, -1],
    [
      'a call that is no JSON',
      [turn('<think>a</think><tool_call>{x</tool_call>')],
      '7',
      undefined,
      -1,
    ],
    ['an answer without a thought', [turn(call)], '7', '<answer>7</answer>', -1],
    ['tags in tags', [turn(call)], '7', '<think><think></think><answer>7</answer>', -1],
    [
      'moderate repetition, whatever follows',
      [turn(call)],
      '7',
      `${repeated}<answer>7</answer>`,
      -1.5,
    ],
  ])('%s: %#', (_, steps, answer, answerText, reward) => {
    const made = trajectoryOf(steps, { answer, ...(answerText && { answerText }) });
    expect(rewardOf('vista', made)).toBe(reward);
  });

  it.each([
    [false, false, -1, 0],
    [true, false, -0.5, 0],
    [false, true, -0.5, 0],
    [true, true, 1, 1],
  ])(
    'ablations with format %s and answer %s: dense %d, sparse %d',
    (format, right, dense, sparse) => {
      const made = trajectoryOf([turn(format ? call : 'no')], { answer: right ? '7' : '3' });
      const task = { answer: '7', metadata: {} };
      const context = makeContext(made, task, { verifier: exact });
      expect(vistaDense.score(made, context)).toBe(dense);
      expect(vistaSparse.score(made, context)).toBe(sparse);
    },
  );

  it.each([
    [-1, 1],
    [1, 1],
    [1.5, 0.75],
    [2, 0.5],
    [3, 0.5],
  ])('a group whose mean is %d is weighed by %d', (mean, weight) => {
    expect(difficultyWeight(mean, vistaDifficulty.values)).toBe(weight);
  });
});

/** An image that was given upside down: after the half turn its crops are canonical. */
const upsideDown = {
  requiredTools: ['rotate_180', 'crop'],
  box: [0, 0, 100, 100],
  toCanonical: [-1, 0, 640, 0, -1, 400],
};
const turnRight: Step = { code: 'r = image_clue_0.rotate(180)\nr.show()' };
/** IoU 0.6 with the box. */
const cropWell: Step = { code: 'r.crop((0, 0, 100, 60)).show()' };

describe('CodeVision', () => {
  it('pays required tools, IoU, order and format', () => {
    const made = trajectoryOf([turnRight, cropWell]);
    const [paper] = score('codevision', [made], upsideDown);
    expect(paper?.rewardTerms['must-use-tools']).toBeCloseTo(0.8, 12);
    expect(paper?.reward).toBeCloseTo(2, 12);
    expect(rewardOf('codevision/code', made, upsideDown)).toBeCloseTo(2, 12);
  });

  it('takes off for calls that were not needed', () => {
    const wander: Step = { code: 'q = image_clue_0.rotate(90, expand=True)\nq.show()' };
    const again: Step = { code: 'print(r.size)' };
    const made = trajectoryOf([wander, turnRight, cropWell, again]);
    expect(rewardOf('codevision/code', made, upsideDown)).toBeCloseTo(0.9, 12);
    expect(rewardOf('codevision', made, upsideDown)).toBeCloseTo(1.4, 12);
  });

  it('punishes turning what stands upright', () => {
    const made = trajectoryOf([
      { code: 'image_clue_0.rotate(90, expand=True).show()' },
      { code: 'image_clue_0.rotate(180).show()' },
    ]);
    const task = { requiredTools: [] };
    expect(rewardOf('codevision/code', made, task)).toBeCloseTo(0.1, 12);
    expect(rewardOf('codevision', made, task)).toBeCloseTo(0.1, 12);
  });

  it('compares crops in the canonical frame, which the public code does not', () => {
    // The crop is written in the frame of the image as it was given, before any turn.
    const made = trajectoryOf([
      { code: 'image_clue_0.crop((540, 340, 640, 400)).show()' },
      turnRight,
    ]);
    const terms = (preset: string) => score(preset, [made], upsideDown)[0]?.rewardTerms;
    expect(terms('codevision')?.['must-use-tools']).toBeCloseTo(0.8, 12);
    expect(terms('codevision/code')?.['must-use-tools']).toBeCloseTo(0.5, 12);
    // Everything was used, but the crop came first.
    expect(terms('codevision')?.['exact-order']).toBe(0);
    expect(terms('codevision/code')?.['exact-order']).toBeCloseTo(0.1, 12);
  });

  it('punishes a right answer from a crop of the wrong place', () => {
    const made = trajectoryOf([turnRight, { code: 'r.crop((300, 200, 400, 300)).show()' }]);
    const [paper] = score('codevision', [made], upsideDown);
    expect(paper?.rewardTerms['poor-reasoning-penalty']).toBe(-0.5);
    expect(paper?.rewardTerms['exact-order']).toBe(0);
    const cropOnly = { ...upsideDown, requiredTools: ['crop'] };
    expect(score('codevision/code', [made], cropOnly)[0]?.rewardTerms['grounded-accuracy']).toBe(0);
  });

  it.each([
    ['five with, three right; three without, one right', [3, 5, 1, 3], 0.6 - 1 / 3],
    ['two of three without are right', [3, 5, 2, 3], 0],
    ['none without a tool', [3, 8, 0, 0], 0],
    ['worse with the tool', [1, 5, 1, 3], 0],
  ])('infers how necessary a tool is: %s', (_, [right, tool, plainRight, plain], necessity) => {
    const uses = [...Array(tool).fill(true), ...Array(plain).fill(false)] as boolean[];
    const isRight = uses.map((used, index) =>
      used ? index < (right as number) : index - (tool as number) < (plainRight as number),
    );
    expect(inferredNecessity(uses, isRight, 1)).toBeCloseTo(necessity, 12);
  });

  it('adds the necessity to those that used the tool and are right', () => {
    const sharpen: Step = {
      code: 'from PIL import ImageEnhance\nImageEnhance.Contrast(image_clue_0).enhance(2).show()',
    };
    const group = [
      ...[0, 1, 2, 3, 4].map((i) =>
        trajectoryOf([sharpen], { id: `t/${i}`, answer: i < 3 ? '7' : '3' }),
      ),
      ...[5, 6, 7].map((i) => trajectoryOf([], { id: `t/${i}`, answer: i < 6 ? '7' : '3' })),
    ];
    const scored = score('codevision', group);
    const paid = scored.map(({ rewardTerms }) => rewardTerms['suggested-tool'] ?? Number.NaN);
    const each = 0.2 * (0.6 - 1 / 3);
    paid.forEach((value, i) => {
      expect(value).toBeCloseTo(i < 3 ? each : 0, 12);
    });
    expect(scored[0]?.rewardTerms['emergent-tool']).toBeCloseTo(0.2, 12);
    expect(scored[3]?.rewardTerms['emergent-tool']).toBe(0);
  });
});

describe('CodeV', () => {
  const judgedBy = (...stepScores: readonly number[]) => new Map([['t/0', { stepScores }]]);

  it('adds half of the mean evidence', () => {
    const made = trajectoryOf([look(0), look(100)]);
    expect(score('codev', [made], {}, judgedBy(1, 0.25))[0]?.reward).toBeCloseTo(1.6125, 12);
    const wrong = trajectoryOf([look(0)], { answer: '3' });
    expect(score('codev', [wrong], {}, judgedBy(1))[0]?.reward).toBeCloseTo(0.8, 12);
    expect(rewardOf('codev', trajectoryOf([]))).toBeCloseTo(1.3, 12);
  });

  it.each<[string, readonly Step[]]>([
    ['a box with swapped sides', [{ code: 'image_clue_0.crop((90, 90, 10, 10))', result: raised }]],
    ['a box outside of the image', [{ code: 'image_clue_0.crop((700, 0, 800, 90)).show()' }]],
    ['a crop of everything', [{ code: 'image_clue_0.crop((0, 0, 640, 390)).show()' }]],
    ['the image shown again', [{ code: 'image_clue_0.show()' }]],
    ['nothing but comments', [{ code: '# zoom in' }]],
  ])('crosses a redline with %s, whatever the judge says', (_, steps) => {
    const [scored] = score('codev', [trajectoryOf(steps)], {}, judgedBy(1));
    expect(scored?.rewardTerms.evidence).toBeCloseTo(-0.25, 12);
    // A right answer with a redline is still better than a wrong one with the best evidence.
    expect(scored?.reward).toBeGreaterThan(0.8);
  });

  it('crosses a redline when an error or a crop comes again', () => {
    const broken: Step = { code: 'print(x)', result: { ...raised, errorType: 'NameError' } };
    const errors = score('codev', [trajectoryOf([broken, broken])], {}, judgedBy(0.5, 0.5));
    expect(errors[0]?.rewardTerms.evidence).toBeCloseTo(0.5 * ((0.5 - 0.5) / 2), 12);
    const crops = score('codev', [trajectoryOf([look(0), look(1)])], {}, judgedBy(1, 1));
    expect(crops[0]?.rewardTerms.evidence).toBeCloseTo(0.5 * ((1 - 0.5) / 2), 12);
  });

  it('needs a judge only where a step is to be judged', () => {
    const group = { taskId: 't', trajectories: [trajectoryOf([look(0)])] };
    const scoring = { verifier: exact, terms: presetTerms('codev') };
    const unjudged = scoreGroup(group, { answer: '7', metadata: {} }, scoring);
    expect(unjudged.failed[0]?.failure?.message).toMatch(/step 0 has the score undefined/);
    const noSearch = { answer: '7', metadata: { needsSearch: false } };
    expect(scoreGroup(group, noSearch, scoring).scored.trajectories[0]?.reward).toBeCloseTo(1.3);
  });
});
