import {
  type Ask,
  askWith,
  type ErrorInput,
  errorJudge,
  RewardError,
  type ScoredGroupResult,
  scriptedChat,
  textOf,
} from '@saccade/rewards';
import type { ScoredTrajectory } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { errorMetrics } from './error-metrics.ts';
import {
  call,
  contextOf,
  crop,
  options,
  refused,
  type Step,
  scored,
  upright,
} from './error-trajectories.fixture.ts';

describe('errors as metrics', () => {
  const never = (message: string) => expect.unreachable(message);
  const plain = { settings: options, onWarning: never };
  const group = (trajectories: readonly ScoredTrajectory[]): ScoredGroupResult => ({
    scored: { taskId: 'a', trajectories },
    contexts: trajectories.map((one) => contextOf(one, upright)),
    failed: [],
  });

  it('are shares of wrong trajectories, each counted once per kind', async () => {
    const bad: Step = [call('zoom'), refused('BadArgument')];
    const metrics = await errorMetrics(
      [
        group([
          scored([bad, bad], '3', 'a0'),
          scored([bad, crop('5,5,45,45')], '3', 'a1'),
          scored([[call('ocr'), { stdout: '17' }]], '3', 'a2'),
          scored([], '3', 'a3'),
          // Right: not among them.
          scored([bad], '7', 'a4'),
        ]),
      ],
      plain,
    );
    expect(metrics).toEqual({
      'errors/E1': 0,
      'errors/E2': 0,
      'errors/E3': 0.5,
      'errors/E4': 0,
      'errors/E5': 0,
      'errors/E6': 0.25,
      'errors/undecided': 0.25,
    });
  });

  it('are a warning where the task set is wrong', async () => {
    const one = scored([crop('5,5,45,45')]);
    const contexts = [contextOf(one, { box: 'here' })];
    const warnings: string[] = [];
    const results = [{ scored: { taskId: 'a', trajectories: [one] }, contexts, failed: [] }];
    const onWarning = (message: string) => void warnings.push(message);
    expect(await errorMetrics(results, { settings: options, onWarning })).toEqual({});
    expect(warnings[0]).toContain('metadata.box must be four numbers');
  });

  it('are absent where nothing is wrong', async () => {
    expect(await errorMetrics([group([scored([], '7')])], plain)).toEqual({});
  });
});

describe('errors that a judge tells', () => {
  const read: Step = [call('ocr', { image_index: 0 }), { stdout: 'total 17' }];
  const tasks = [{ question: 'How many?', answer: '7' }];
  const results = (...trajectories: readonly ScoredTrajectory[]): readonly ScoredGroupResult[] => [
    {
      scored: { taskId: 'a', trajectories },
      contexts: trajectories.map((one) => contextOf(one, {})),
      failed: [],
    },
  ];
  const metricsWith = async (
    ask: Ask<ErrorInput>,
    ...given: readonly ScoredTrajectory[]
  ): Promise<readonly [Readonly<Record<string, number>>, readonly string[]]> => {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const judging = { ask, tasks };
    return [
      await errorMetrics(results(...given), { settings: options, judging, onWarning }),
      warnings,
    ];
  };

  it('are asked of undecided answers alone, with question, reference, calls and results', async () => {
    const model = scriptedChat(() => '6');
    const bad: Step = [call('ocr'), refused('BadArgument')];
    const [metrics, warnings] = await metricsWith(
      askWith(errorJudge, model),
      scored([read], '3', 'a0'),
      scored([bad], '3', 'a1'),
      scored([], '3', 'a2'),
      scored([read], '7', 'a3'),
    );
    expect(model.asked).toHaveLength(1);
    const asked = textOf(model.asked[0] ?? []);
    for (const part of ['How many?', 'ocr {"image_index":0}', 'total 17\n(1 image)']) {
      expect(asked).toContain(part);
    }
    expect(asked).toMatch(/BEGIN REFERENCE \w+\n7\n/);
    expect(asked).toMatch(/BEGIN ANSWER \w+\n3\n/);
    expect(metrics).toMatchObject({
      'errors/E3': 1 / 3,
      'errors/E6': 1 / 3,
      'errors/undecided': 0,
    });
    expect(metrics['errors/judged']).toBeCloseTo(1 / 3);
    expect(warnings).toEqual([]);
  });

  it.each([
    [4, 'errors/E4'],
    [5, 'errors/E5'],
    [6, 'errors/E6'],
    [0, 'errors/undecided'],
  ])('are %i for %s', async (grade, name) => {
    const [metrics] = await metricsWith(async () => grade, scored([read]));
    const found = Object.entries(metrics).filter(
      ([key, share]) => share > 0 && key !== 'errors/judged',
    );
    expect(found).toEqual([[name, 1]]);
    expect(metrics['errors/judged']).toBe(grade === 0 ? 0 : 1);
  });

  it.each(['E4', '7', 'GRADE 4', 'The grade is 4.', '4 6'])(
    'stay undecided where the reply is %j, with a warning',
    async (reply) => {
      const ask = askWith(
        errorJudge,
        scriptedChat(() => reply),
      );
      const [metrics, warnings] = await metricsWith(ask, scored([read]), scored([read], '4'));
      expect(metrics).toMatchObject({ 'errors/undecided': 1, 'errors/judged': 0 });
      expect(warnings).toEqual([
        expect.stringMatching(/nothing of 2 wrong answers.*gave no grade/),
      ]);
    },
  );

  it('are metrics still where the judge is down', async () => {
    const [metrics, warnings] = await metricsWith(
      async () => {
        throw new RewardError('no server');
      },
      scored([read]),
    );
    expect([metrics['errors/undecided'], warnings.length]).toEqual([1, 1]);
  });
});
