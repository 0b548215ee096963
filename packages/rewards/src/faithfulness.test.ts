import { describe, expect, it } from 'vitest';
import {
  callBuckets,
  type FaithfulnessSample,
  faithfulness,
  faithfulnessMetrics,
  faithfulnessSample,
  judgeAgreement,
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
      'faithfulness/calls/0/ratio': 0.25,
      'faithfulness/calls/0/accuracy': 1,
      'faithfulness/calls/1/ratio': 0.5,
      'faithfulness/calls/1/accuracy': 0,
      'faithfulness/calls/2/ratio': 0.25,
      'faithfulness/calls/2/accuracy': 1,
      'faithfulness/calls/3+/ratio': 0,
    });
    expect(faithfulnessMetrics([])).toEqual({});
  });
});

describe('callBuckets', () => {
  it('draws figure 8: shares sum to 1, right shares to the accuracy, three and more are one', () => {
    const look = { action: { kind: 'code', code: 'look()' }, segment: 1 } as const;
    const all = Array.from({ length: 60 }, (_, index) => ({
      trajectory: { isCorrect: index % 3 === 0, turns: new Array(index % 7).fill(look) },
      grades: [index % 2],
    }));
    const graded = all.map(({ trajectory, grades }) => ({
      trajectory,
      grades: trajectory.turns.length > 0 ? grades : [],
    }));
    const buckets = callBuckets(graded);
    expect(buckets.map(({ calls }) => calls)).toEqual(['0', '1', '2', '3+']);
    const sum = (of: 'share' | 'rightShare' | 'count') =>
      buckets.reduce((total, bucket) => total + bucket[of], 0);
    expect(sum('count')).toBe(60);
    expect(sum('share')).toBeCloseTo(1, 12);
    expect(sum('rightShare')).toBeCloseTo(20 / 60, 12);
    for (const { share, accuracy = 0, rightShare } of buckets) {
      expect(share * accuracy).toBeCloseTo(rightShare, 12);
    }
    expect(buckets[3]?.count).toBe(33);
    expect(callBuckets([]).every(({ share, accuracy }) => share === 0 && accuracy === undefined));
  });
});

describe('judgeAgreement', () => {
  it('is kappa of the judge and the box, and nothing without images that both decide', () => {
    const pairs = (count: number, judge: boolean, box: boolean) =>
      Array.from({ length: count }, () => ({ judge, box }));
    // Cohen 1960 by hand: agreement 0.7, expected 0.5 · 0.6 + 0.5 · 0.4 = 0.5.
    const all = [
      ...pairs(20, true, true),
      ...pairs(10, true, false),
      ...pairs(5, false, true),
      ...pairs(15, false, false),
    ];
    expect(judgeAgreement(all)?.kappa).toBeCloseTo((0.7 - 0.5) / 0.5, 12);
    expect(judgeAgreement([])).toBeUndefined();
  });
});
