import { describe, expect, it } from 'vitest';
import {
  type FaithfulnessSample,
  faithfulness,
  faithfulnessMetrics,
  faithfulnessSample,
} from './faithfulness.ts';

const sample = (isCorrect: boolean, what: 'evidence' | 'tool' | 'none'): FaithfulnessSample => ({
  isCorrect,
  usedTool: what !== 'none',
  hasEvidence: what === 'evidence',
});

/** Six right, of which four with evidence and one without a tool; four wrong, one with evidence. */
const ten = [
  ...Array.from({ length: 4 }, () => sample(true, 'evidence')),
  sample(true, 'tool'),
  sample(true, 'none'),
  sample(false, 'evidence'),
  ...Array.from({ length: 3 }, () => sample(false, 'tool')),
];

describe('faithfulness', () => {
  it('divides by all samples, and by those that are right', () => {
    const { count, rate, rateOfCorrect, classes } = faithfulness(ten);
    expect(count).toBe(10);
    expect(rate).toBe(0.4);
    expect(rateOfCorrect).toBeCloseTo(4 / 6, 14);
    expect(classes?.faithful).toBe(0.5);
    expect(classes?.unfaithful).toBeCloseTo(0.4, 14);
    expect(classes?.noTool).toBe(0.1);
  });

  it('leaves out the shares of nothing', () => {
    expect(faithfulness([])).toEqual({ count: 0 });
    expect(faithfulness([sample(false, 'tool')])).not.toHaveProperty('rateOfCorrect');
  });

  it('refuses evidence without a tool', () => {
    const impossible = { isCorrect: true, usedTool: false, hasEvidence: true };
    expect(() => faithfulness([...ten, impossible])).toThrow(/Sample 10 has evidence but used no/);
  });
});

describe('faithfulnessSample', () => {
  const turns = [
    { segment: 1, action: { kind: 'code', code: 'crop()' } },
    { segment: 3, action: { kind: 'answer', answer: '7' } },
  ] as const;

  it('takes any image that clearly shows it', () => {
    const grades = [0.5, undefined];
    expect(faithfulnessSample({ isCorrect: true, turns }, grades)).toEqual(sample(true, 'tool'));
    expect(faithfulnessSample({ isCorrect: true, turns }, [0.25, 1])).toEqual(ten[0]);
    expect(faithfulnessSample({ isCorrect: true, turns }, grades, 0.5)).toEqual(ten[0]);
  });

  it('knows when there was no tool', () => {
    const answered = { isCorrect: false, turns: turns.slice(1) };
    expect(faithfulnessSample(answered, [undefined])).toEqual(sample(false, 'none'));
  });
});

describe('faithfulnessMetrics', () => {
  it('gives the three denominators by name, and nothing for no trajectories', () => {
    const look = { action: { kind: 'code', code: 'look()' }, segment: 1 } as const;
    const graded = (isCorrect: boolean, ...grades: (number | undefined)[]) => ({
      trajectory: { isCorrect, turns: grades.map(() => look) },
      grades,
    });
    const all = [graded(true, 0.25, 1), graded(true), graded(false, 1), graded(false, undefined)];
    expect(faithfulnessMetrics(all)).toEqual({
      'faithfulness/rate': 0.25,
      'faithfulness/rate_of_correct': 0.5,
      'faithfulness/faithful': 0.5,
      'faithfulness/unfaithful': 0.25,
      'faithfulness/no_tool': 0.25,
    });
    expect(faithfulnessMetrics([])).toEqual({});
  });
});
