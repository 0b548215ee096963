/** Properties of the rewards for any input: bounds, signs, monotonicity, telescoping. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeContext } from './context.ts';
import { presetNamed, presets, rewards } from './registry.ts';
import { balancedToolCall, toolCallIncentive } from './rewards/balanced-tool-call.ts';
import { overlong } from './rewards/overlong.ts';
import { repetition, severityOf } from './rewards/repetition.ts';
import { inferredNecessity } from './rewards/suggested-tool.ts';
import { difficultyWeight, vistaDifficulty } from './rewards/vista-difficulty.ts';
import { raised, ran, type Step, trajectoryOf } from './trajectories.fixture.ts';
import { exact } from './verifiers/exact.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
describe('the incentive for tool calls', () => {
  const gammas = fc.double({ min: 0.1, max: 20, noNaN: true });
  const deltas = fc.double({ min: 0.01, max: 0.5, noNaN: true });

  it('stays between −δ and 1 − δ, falls with the accuracy, and turns where it should', () => {
    fc.assert(
      fc.property(
        gammas,
        deltas,
        share,
        fc.boolean(),
        share,
        share,
        (gamma, delta, center, doubleSteepness, a, b) => {
          const options = { gamma, delta, center, doubleSteepness };
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          const value = toolCallIncentive(a, options);
          // Open bounds, which float64 reaches where the logistic function saturates.
          expect(value).toBeGreaterThanOrEqual(-delta);
          expect(value).toBeLessThanOrEqual(1 - delta);
          expect(toolCallIncentive(low, options)).toBeGreaterThanOrEqual(
            toolCallIncentive(high, options),
          );
          const slope = doubleSteepness ? 2 * gamma : gamma;
          const flip = center + Math.log((1 - delta) / delta) / slope;
          expect(toolCallIncentive(flip, options)).toBeCloseTo(0, 9);
          expect(toolCallIncentive(flip - 0.01, options)).toBeGreaterThan(0);
          expect(toolCallIncentive(flip + 0.01, options)).toBeLessThan(0);
        },
      ),
    );
  });

  it('turns at 0.847 with the paper’s numbers, at 0.673 with the code’s', () => {
    const theirs = presetNamed('codedance/code').terms[2]?.reward ?? balancedToolCall;
    for (const [variant, flip] of [
      ['paper', 0.8466],
      ['code', 0.6733],
    ] as const) {
      const { constants } = variant === 'paper' ? balancedToolCall : theirs;
      expect(constants?.flip?.value).toBeCloseTo(flip, 4);
    }
  });

  it('grows with the share of calls that ran while the group is weak', () => {
    const reward = balancedToolCall;
    const group = [0, 1, 2, 3].map((good) => {
      const steps = [0, 1, 2].map(
        (i): Step => ({ code: 'x = 1', result: i < good ? ran : raised }),
      );
      return trajectoryOf(steps, { id: `t/${good}`, answer: '3' });
    });
    const task = { answer: '7', metadata: {} };
    const contexts = group.map((one) => makeContext(one, task, { verifier: exact }));
    const values = reward.score({ taskId: 't', trajectories: group }, contexts);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(values[0]).toBe(0);
    expect(values[3]).toBeCloseTo(0.5 * toolCallIncentive(0, balancedToolCall.values));
  });
});

describe('penalties', () => {
  const steps = fc.array(
    fc.record({
      code: fc.constantFrom(
        'image_clue_0.rotate(90, expand=True).show()',
        'image_clue_0.crop((0, 0, 640, 400)).show()',
        'image_clue_0.crop((10, 10, 90, 90)).show()',
        'image_clue_0.transpose(Image.FLIP_LEFT_RIGHT).show()',
        '# nothing',
        'x = (',
      ),
      result: fc.constantFrom(ran, raised),
    }),
    { maxLength: 6 },
  );
  const tasks = fc.constantFrom<Readonly<Record<string, unknown>>>(
    {},
    { requiredTools: [] },
    { requiredTools: ['crop'], box: [0, 0, 100, 100] },
    { requiredTools: ['rotate_90', 'crop'], box: [300, 200, 400, 300] },
  );
  const punishing = presets
    .entries()
    .flatMap(([, { terms }]) => terms)
    .map(({ reward }) => reward)
    .filter(({ name }) => /penalty|repetition|overlong/.test(name));

  it('are never positive, and every term stays in its range', () => {
    expect(punishing.length).toBeGreaterThanOrEqual(8);
    const all = [
      ...rewards.entries().map(([, reward]) => reward),
      ...presets.entries().flatMap(([, { terms }]) => terms.map(({ reward }) => reward)),
    ];
    fc.assert(
      fc.property(steps, tasks, fc.constantFrom('7', '3'), (made, metadata, answer) => {
        const trajectory = trajectoryOf(made, { answer });
        const judged = {
          stepScores: made.map(() => 1),
          judgeScores: { process: 1, consistency: 0 },
        };
        const task = { answer: '7', metadata };
        const context = makeContext(trajectory, task, { verifier: exact }, judged);
        for (const reward of all) {
          const values =
            reward.scope === 'group'
              ? reward.score({ taskId: 't', trajectories: [trajectory] }, [context])
              : [reward.score(trajectory, context)].flat();
          const [low, high] = reward.range;
          for (const value of values) {
            expect(value, reward.name).toBeGreaterThanOrEqual(low);
            expect(value, reward.name).toBeLessThanOrEqual(high);
            if (punishing.includes(reward)) expect(value, reward.name).toBeLessThanOrEqual(0);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('for length start at the buffer, fall in a line, and are capped or not', () => {
    const capped = overlong.with({ maxTokens: 100, bufferTokens: 40 });
    const uncapped = capped.with({ isCapped: false });
    const context = makeContext(
      trajectoryOf([]),
      { answer: '7', metadata: {} },
      { verifier: exact },
    );
    const at = (tokens: number): readonly number[] => {
      const made = trajectoryOf([], { tokensPerTurn: tokens });
      return [capped.score(made, context), uncapped.score(made, context)];
    };
    expect(at(60)).toEqual([0, 0]);
    expect(at(80)).toEqual([-0.5, -0.5]);
    expect(at(100)).toEqual([-1, -1]);
    expect(at(140)).toEqual([-1, -2]);
    expect(() => capped.with({ bufferTokens: 0 })).toThrow(
      /overlong.bufferTokens: expected an int/,
    );
    expect(() => capped.with({ bufferTokens: 101 })).toThrow(/expected at most maxTokens, got 101/);
    expect(() => capped.with({ cacheTokens: 10 })).toThrow(/no setting overlong.cacheTokens/);
  });
});

describe('repetition', () => {
  const options = repetition.values;
  const sentence = 'The sign on the left says stop in red letters. ';

  it.each([
    ['nothing', '', 0],
    [
      'a paragraph',
      'The picture shows a table with cards. One of them has a digit, so I look there.',
      0,
    ],
    ['a sentence three times', sentence.repeat(3), 0],
    ['a sentence five times', sentence.repeat(5), -1.5],
    ['a sentence ten times', sentence.repeat(10), -2],
    ['a sentence 25 times', sentence.repeat(25), -3],
    ['yes ten times', 'yes '.repeat(10), -1.5],
    ['yes 60 times', 'yes '.repeat(60), -3],
    ['a rule of dashes', '-'.repeat(120), 0],
    ['an endless rule', '-'.repeat(300), -1.5],
    ['zeros in a list', '[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]', 0],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n', 0],
    ['one letter', 'a'.repeat(260), -3],
    ['a long word', `h${'m'.repeat(120)}`, -2],
  ])('%s', (_, text, severity) => {
    expect(severityOf(text, options)).toBe(severity);
  });

  it('takes one of four values, and is not milder for a text that keeps repeating', () => {
    const values = new Set([0, -1.5, -2, -3]);
    const words = fc.array(fc.constantFrom('red', 'blue', 'card', 'digit', '7', '-'), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(words, (list) => {
        expect(values.has(severityOf(list.join(' '), options))).toBe(true);
      }),
    );
    const severities = [1, 2, 4, 8, 16, 32].map((times) =>
      severityOf(sentence.repeat(times), options),
    );
    expect(severities).toEqual([...severities].sort((a, b) => b - a));
  });

  it('reads a long text in no time', () => {
    const before = process.cpuUsage();
    severityOf('lorem ipsum dolor sit amet '.repeat(2000), options);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});

describe('comparisons in a group', () => {
  it('find a necessity from 0 to 1, and none where the answer comes without', () => {
    const flags = fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(flags, (pairs) => {
        const [uses, right] = [pairs.map(([used]) => used), pairs.map(([, isRight]) => isRight)];
        const value = inferredNecessity(uses, right, 1);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        if (pairs.filter(([used, isRight]) => !used && isRight).length > 1) expect(value).toBe(0);
      }),
    );
  });

  it('weigh a group from ½ to 1, less the better it is', () => {
    const mean = fc.double({ min: -3, max: 2, noNaN: true });
    fc.assert(
      fc.property(mean, mean, (a, b) => {
        expect(difficultyWeight(Math.min(a, b), vistaDifficulty.values)).toBeGreaterThanOrEqual(
          difficultyWeight(Math.max(a, b), vistaDifficulty.values),
        );
        expect(difficultyWeight(a, vistaDifficulty.values)).toBeGreaterThanOrEqual(0.5);
        expect(difficultyWeight(a, vistaDifficulty.values)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
