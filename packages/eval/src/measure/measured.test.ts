import { describe, expect, it } from 'vitest';
import { bucketsOf } from './buckets.ts';
import { measure, passCounts } from './measured.ts';
import { type SampleFacts, voteOf } from './sample-facts.ts';

const options = { level: 0.95, resamples: 500, seed: 0 };

function facts(taskIndex: number, sampleIndex: number, change: Partial<SampleFacts> = {}) {
  return {
    ...{ taskIndex, sampleIndex, score: 0, isCorrect: false, vote: 'x' },
    ...{ turns: 1, calls: 0, callsRun: 0, tokens: 10, contextTokens: 50, visualTokens: 4 },
    ...{ stopReason: 'answered' as const, operations: {}, errors: [] },
    ...change,
  };
}

const right = (vote = '7'): Partial<SampleFacts> => ({ score: 1, isCorrect: true, vote });

describe('metrics of samples', () => {
  it('give avg@k, pass@n and maj@k as Chen et al. 2021 and a vote define them', () => {
    // Task 0: 2 of 4 right; task 1: 1 of 4. pass@2 = 1 − C(n−c, 2)/C(n, 2) = 5/6 and 1/2.
    const samples = [
      ...[right(), right(), {}, { vote: 'y' }].map((one, i) => facts(0, i, one)),
      ...[right(), { vote: 'z' }, { vote: 'z' }, { vote: 'z' }].map((one, i) => facts(1, i, one)),
    ];
    const { metrics, tasks, samples: count } = measure(samples, 4, options);
    expect({ tasks, count }).toEqual({ tasks: 2, count: 8 });
    expect(metrics['avg@4']).toBeCloseTo((2 / 4 + 1 / 4) / 2, 12);
    expect(metrics['pass@1']).toBeCloseTo((2 / 4 + 1 / 4) / 2, 12);
    expect(metrics['pass@2']).toBeCloseTo((5 / 6 + 1 / 2) / 2, 12);
    expect(metrics['pass@4']).toBe(1);
    // Most samples of task 0 say 7, which is right; of task 1 z, which is wrong.
    expect(metrics['maj@4']).toBeCloseTo(1 / 2, 12);
  });

  it('do not depend on the order in which samples ended', () => {
    const samples = Array.from({ length: 60 }, (_, i) =>
      facts(i % 12, Math.floor(i / 12), i % 7 < 3 ? right() : { vote: String(i % 5) }),
    );
    const other = [...samples].reverse();
    expect(measure(other, 5, options)).toEqual(measure(samples, 5, options));
    expect(bucketsOf(other)).toEqual(bucketsOf(samples));
  });

  it('count a score between 0 and 1 in avg@k', () => {
    const samples = [facts(0, 0, { score: 0.8, isCorrect: true }), facts(1, 0, { score: 0.3 })];
    expect(measure(samples, 1, options).metrics['avg@1']).toBeCloseTo(0.55, 12);
    expect(measure(samples, 1, options).metrics['pass@1']).toBeCloseTo(0.5, 12);
  });

  it('leave tasks that lack samples out of pass@k and maj@k, not out of avg@k', () => {
    const samples = [facts(0, 0, right()), facts(0, 1, right()), facts(1, 0)];
    const { metrics } = measure(samples, 2, options);
    expect(metrics['avg@2']).toBe(0.5);
    expect(metrics['pass@2']).toBe(1);
    expect(metrics['maj@2']).toBe(1);
  });

  it('say nothing of no samples', () => {
    expect(measure([], 3, options)).toEqual({ tasks: 0, samples: 0, metrics: {}, intervals: {} });
  });

  it('have wider intervals where the samples of a task agree', () => {
    const width = (of: (task: number, sample: number) => boolean): number => {
      const samples = Array.from({ length: 160 }, (_, i) => {
        const [task, sample] = [Math.floor(i / 8), i % 8];
        return facts(task, sample, of(task, sample) ? right() : {});
      });
      const [low, high] = measure(samples, 8, options).intervals['avg@8'] ?? [0, 0];
      return high - low;
    };
    // Half of the samples are right in both: whole tasks in the first, half of each in the second.
    expect(width((task) => task % 2 === 0)).toBeGreaterThan(0.3);
    expect(width((_, sample) => sample % 2 === 0)).toBe(0);
  });

  it('share operations and calls out among bars that add up', () => {
    const samples = [
      facts(0, 0, { calls: 2, operations: { crop: 3, enhance: 1 } }),
      facts(0, 1, { ...right(), calls: 20, operations: { crop: 4 } }),
    ];
    const { tools, calls, tokens } = bucketsOf(samples);
    expect(tools).toEqual([
      { label: 'crop', share: 7 / 8, samples: 2, accuracy: 0.5 },
      { label: 'enhance', share: 1 / 8, samples: 1, accuracy: 0 },
    ]);
    expect(calls?.map(({ label }) => label)).toEqual(['2', '16 and more']);
    expect(tokens).toEqual([{ label: '0–63', share: 1, samples: 2, accuracy: 0.5 }]);
  });

  it('count passes of 1, 2, 4 and so on, and k', () => {
    expect(passCounts(1)).toEqual([1]);
    expect(passCounts(6)).toEqual([1, 2, 4, 6]);
    expect(passCounts(8)).toEqual([1, 2, 4, 8]);
  });
});

describe('votes', () => {
  it.each([
    ['\\boxed{ 1,024 }', '1024'],
    ['7.0', '7'],
    ['  Red   car. ', 'red car.'],
    ['1/2', '1/2'],
  ])('read %s as %s', (answer, vote) => {
    expect(voteOf(answer)).toBe(vote);
  });
});
