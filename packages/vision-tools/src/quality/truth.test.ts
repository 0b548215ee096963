import type { Outcome } from '@saccade/sandbox';
import { describe, expect, it } from 'vitest';
import { visionTools } from '../registry.ts';
import { chartCases, trueValues } from './charts/cases.ts';
import { laidFigures } from './figures/figure-cases.ts';
import { questionOf } from './figures/questions.ts';
import { builtTruth, marksTruth, spell, statementScores } from './figures/statements.ts';
import { hasAnswer, isRightAnswer, mathQuestions } from './mathematics/questions.ts';
import { answerScores, saidValue, unanswerableScores } from './quality.ts';
import * as suites from './suites/catalog.ts';

const outcome = (stdout: string, type?: string): Outcome =>
  ({
    ...{ kind: type === undefined ? 'ok' : 'exception', stdout },
    ...(type !== undefined && { error: { type, message: '', traceback: '' } }),
  }) as Outcome;

describe('truths of the suites', () => {
  it('exist for every tool', () => {
    const measured = new Set(Object.values(suites).map(({ tool }) => tool));
    expect(visionTools.entries().map(([name]) => name)).toEqual([...measured].sort());
  });

  it('are at least 50 where nothing has to be drawn', async () => {
    const { multimath, textCdl, goalCdl, interGps, sympyGeometry, unichart, opencv } = suites;
    for (const suite of [multimath, textCdl, goalCdl, interGps, sympyGeometry, unichart, opencv]) {
      const cases = await suite.cases(() => Promise.reject(new Error('Nothing is drawn here.')));
      expect(cases.length, suite.tool).toBeGreaterThanOrEqual(50);
    }
  });

  it('tell a wrong answer from a declined one', () => {
    expect(answerScores(outcome('Answer: 5'), true)).toEqual({ right: 1, wrong: 0, declined: 0 });
    expect(answerScores(outcome('Answer: 5'), false)).toEqual({ right: 0, wrong: 1, declined: 0 });
    expect(answerScores(outcome('', 'CannotAnswer'), false)).toEqual({
      ...{ right: 0, wrong: 0, declined: 1 },
    });
    expect(unanswerableScores(outcome('Answer: 5'))).toEqual({ 'unanswerable said': 0 });
    expect(saidValue(outcome('Proof:\nAnswer: 2√3 ≈ 3.4641'))).toBe(3.4641);
    expect(saidValue(outcome('Answer: 15/2'))).toBe(7.5);
  });

  it('take statements that say the same for the same, and no others', () => {
    const lines = [[...'ADB'], [...'AEC'], [...'DE'], [...'BC']];
    const diagram = { lines, isOriented: true };
    const same = (a: string, b: string): boolean => spell(a, diagram) === spell(b, diagram);
    expect(same('Equal(LengthOfLine(AB),5)', 'Equal(5,LengthOfLine(BA))')).toBe(true);
    expect(same('Equal(MeasureOfAngle(BAC),5)', 'Equal(MeasureOfAngle(DAE),5)')).toBe(true);
    expect(same('Equal(MeasureOfAngle(BAC),5)', 'Equal(MeasureOfAngle(CAB),5)')).toBe(false);
    expect(same('ParallelBetweenLine(DE,BC)', 'ParallelBetweenLine(CB,ED)')).toBe(true);
    expect(same('Equal(LengthOfLine(AD),5)', 'Equal(LengthOfLine(AB),5)')).toBe(false);
    const text = { lines: [], isOriented: false };
    expect(spell('PerpendicularBetweenLine(AB,BC)', text)).toBe(
      spell('Equal(MeasureOfAngle(CBA),90)', text),
    );
    const found = ['Equal(LengthOfLine(AB),5)', 'Parallelogram(BCDA)'];
    expect(statementScores(found, ['Parallelogram(ABCD)'], text, 'said')).toEqual({
      ...{ 'said recall': 1, 'said precision': 0.5, 'said exact': 0 },
    });
  });

  it('find every range that a caption says, at the end of a sentence too', async () => {
    const charts = await chartCases();
    const cases = await suites.chartvlm.cases(() => Promise.reject(new Error('Nothing is drawn.')));
    for (const [index, chart] of charts.entries()) {
      if (chart.kind === 'scatter' || chart.isNumeric) continue;
      const caption = trueValues(chart)
        .map((values) => `Values range from ${Math.min(...values)} to ${Math.max(...values)}.`)
        .join(' ');
      const scores = await cases[index]?.score(outcome(caption));
      expect(scores, chart.id).toMatchObject({ ranges: 1 });
    }
  });

  it('are statements and goals of figures', () => {
    const triangle = laidFigures()[0];
    if (triangle === undefined) throw new Error('There are figures.');
    expect(builtTruth(triangle)).toEqual([expect.stringMatching(/^Shape\(A[BC],(BC|CB),[BC]A\)$/)]);
    expect(marksTruth(triangle).map((one) => one.slice(0, 21))).toEqual([
      ...['Equal(MeasureOfAngle(', 'Equal(MeasureOfAngle('],
    ]);
    expect(questionOf(triangle).goal).toBe('Value(MeasureOfAngle(ACB))');
  });

  it('of formulas are numbers, however they are written', async () => {
    const all = await mathQuestions();
    const about = (start: string) => {
      const one = all.find(({ question }) => question.startsWith(start));
      if (one === undefined) throw new Error(`No question begins with ${start}.`);
      return one;
    };
    expect(isRightAnswer('x = 3 or x = -3', about('Find all real solutions of x^2 - 9'))).toBe(
      true,
    );
    expect(isRightAnswer('x = 3', about('Find all real solutions of x^2 - 9'))).toBe(false);
    expect(isRightAnswer('x = 4, y = 3 or x = 3, y = 4', about('Solve the system xy'))).toBe(true);
    expect(isRightAnswer('x·ln(x) - x + 7 + C', about('Find the integral of ln'))).toBe(true);
    expect(isRightAnswer('x·ln(x) + C', about('Find the integral of ln'))).toBe(false);
    expect(isRightAnswer('-3 < x < 5', about('Solve x^2 - 2*x - 15 < 0'))).toBe(true);
    expect(isRightAnswer('x < 5', about('Solve x^2 - 2*x - 15 < 0'))).toBe(false);
    expect(hasAnswer(about('What is the capital'))).toBe(false);
  });
});
