import { describe, expect, it } from 'vitest';
import { writeGoal, writeStatement } from '../cdl/write-cdl.ts';
import { readProblem } from './read-problem.ts';

function read(text: string) {
  const { statements, goals, unread } = readProblem(text);
  return {
    statements: statements.map(writeStatement),
    goals: goals.map(writeGoal),
    unread,
  };
}

describe('the text of a problem', () => {
  it('gives its statements, its goal, and the clauses that are not understood', () => {
    const problem = read('In triangle ABC, AB = 5 and the weather is fine. Find angle ABC.');
    expect(problem.statements).toContain('Equal(LengthOfLine(AB),5)');
    expect(problem.goals).toEqual(['Value(MeasureOfAngle(ABC))']);
    expect(problem.unread.join()).toContain('weather');
  });

  it.each([
    ['P is the centre of circle O. Find PA.', 'P is the center of circle O. Find PA.'],
    ...['in', 'circum', 'ortho'].map((kind) => [
      `I is the ${kind}centre of triangle ABC. Find angle BIC.`,
      `I is the ${kind}center of triangle ABC. Find angle BIC.`,
    ]),
    ['AB = 3 metres, BC = 4 centimetres. Find AC.', 'AB = 3 meters, BC = 4 centimeters. Find AC.'],
  ])('is read in British spelling as in American: %s', (british, american) => {
    const expected = read(american ?? '');
    expect(expected.statements.length).toBeGreaterThan(0);
    expect(expected.unread).toEqual([]);
    expect(read(british ?? '')).toEqual(expected);
  });
});
