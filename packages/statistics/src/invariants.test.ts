import { ConfigError, DataError, randomAt, ShapeError } from '@saccade/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bootstrap,
  bootstrapMean,
  cohenKappa,
  comparePaired,
  holm,
  majorityAtK,
  mcnemar,
  meanRelativeAccuracy,
  pairedPermutation,
  passAtK,
  tasksNeeded,
  wilcoxon,
  wilson,
  winRate,
} from './index.ts';

const quick = { resamples: 200 };
const score = fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8);
/** Scores of samples with the task of each. */
const samples = fc.array(fc.tuple(score, fc.integer({ min: 0, max: 6 })), {
  minLength: 1,
  maxLength: 30,
});
const pairs = fc.array(fc.tuple(score, score), { minLength: 1, maxLength: 12 });
const left = <A, B>(list: readonly (readonly [A, B])[]): A[] => list.map(([value]) => value);
const right = <A, B>(list: readonly (readonly [A, B])[]): B[] => list.map(([, value]) => value);
const shuffled = <T>(list: readonly T[], seed: number): T[] => randomAt(seed, 'test').shuffle(list);

describe('bootstrapMean', () => {
  test('does not depend on the order of samples or the names of tasks', () => {
    fc.assert(
      fc.property(samples, fc.nat(), (list, seed) => {
        const moved = shuffled(list, seed);
        const options = { ...quick, seed };
        const plain = bootstrapMean(left(list), right(list), options);
        const renamed = right(moved).map((task) => `task ${(task * 5) % 7}`);
        expect(bootstrapMean(left(moved), renamed, options)).toEqual(plain);
      }),
    );
  });

  test('takes a sample that is counted twice in its task for no new information', () => {
    fc.assert(
      fc.property(samples, (list) => {
        const plain = bootstrapMean(left(list), right(list), quick);
        const twice = bootstrapMean(
          [...left(list), ...left(list)],
          [...right(list), ...right(list)],
          quick,
        );
        expect(twice.clusterCount).toBe(plain.clusterCount);
        for (const key of ['estimate', 'low', 'high', 'standardError'] as const) {
          expect(twice[key]).toBeCloseTo(plain[key], 10);
        }
      }),
    );
  });

  test('has the standard error of a mean, and half of its variance with twice the tasks', () => {
    const random = randomAt(3, 'scores');
    const values = Array.from({ length: 60 }, () => random.uniform());
    const mean = values.reduce((sum, value) => sum + value, 0) / 60;
    const expected = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) / 60;
    // 20,000 resamples know a standard deviation to about one part in 200.
    const { standardError } = bootstrapMean(values, undefined, { resamples: 20_000 });
    expect(standardError / expected).toBeGreaterThan(0.98);
    expect(standardError / expected).toBeLessThan(1.02);
    const doubled = bootstrapMean([...values, ...values], undefined, { resamples: 20_000 });
    expect((doubled.standardError / standardError) ** 2).toBeGreaterThan(0.47);
    expect((doubled.standardError / standardError) ** 2).toBeLessThan(0.53);
  });

  test('is wider where samples of a task are alike than if they passed for tasks', () => {
    const values = Array.from({ length: 80 }, (_, index) => Math.floor(index / 8) % 2);
    const tasks = values.map((_, index) => Math.floor(index / 8));
    const [clustered, naive] = [bootstrapMean(values, tasks), bootstrapMean(values)];
    expect(clustered.high - clustered.low).toBeGreaterThan(2 * (naive.high - naive.low));
  });

  test('covers the truth about as often as it says', () => {
    const random = randomAt(11, 'coverage');
    let covered = 0;
    for (let trial = 0; trial < 300; trial++) {
      const values = Array.from({ length: 40 }, () => (random.uniform() < 0.3 ? 1 : 0));
      const { low, high } = bootstrapMean(values, undefined, { resamples: 400, seed: trial });
      if (low <= 0.3 && 0.3 <= high) covered++;
    }
    // 95 % of 300 is 285 ± 4; percentile intervals of 40 tasks cover a little less.
    expect(covered).toBeGreaterThan(268);
    expect(covered).toBeLessThan(297);
  });

  test('gives one point where nothing varies, with either method', () => {
    for (const method of ['percentile', 'bca'] as const) {
      const same = bootstrapMean([1, 1, 1], ['a', 'b', 'c'], { ...quick, method });
      expect(same).toMatchObject({ estimate: 1, low: 1, high: 1, standardError: 0 });
      expect(bootstrapMean([0.5], ['a'], { ...quick, method })).toMatchObject({ low: 0.5 });
    }
  });
});

describe('at k', () => {
  test('pass@k grows with k and with right samples; pass@1 is the mean', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), (n, some, other) => {
        const [c, k] = [some % (n + 1), 1 + (other % n)];
        expect(passAtK(n, c, 1)).toBeCloseTo(c / n, 12);
        if (k > 1) expect(passAtK(n, c, k)).toBeGreaterThanOrEqual(passAtK(n, c, k - 1) - 1e-12);
        if (c > 0) expect(passAtK(n, c, k)).toBeGreaterThanOrEqual(passAtK(n, c - 1, k) - 1e-12);
      }),
    );
  });

  test('maj@1 is the mean score, and maj@n of distinct answers too', () => {
    const votes = fc.array(
      fc.record({ answer: fc.constantFrom('a', 'b', 'é', '<b>', undefined), right: fc.boolean() }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(votes, fc.nat(), (list, seed) => {
        const all = list.map(({ answer }) => ({ answer, score: answer === 'a' ? 1 : 0 }));
        const mean = all.reduce((sum, vote) => sum + vote.score, 0) / all.length;
        expect(majorityAtK(all, 1)).toBeCloseTo(mean, 10);
        const k = 1 + (seed % all.length);
        expect(majorityAtK(shuffled(all, seed), k)).toBeCloseTo(majorityAtK(all, k), 10);
        const distinct = all.map(({ score }, index) => ({ answer: `${index}`, score }));
        expect(majorityAtK(distinct, all.length)).toBeCloseTo(mean, 10);
      }),
    );
  });

  test('maj@k of 128 samples is a chance', () => {
    const votes = Array.from({ length: 128 }, (_, index) => ({
      answer: `${index % 37}`,
      score: index % 37 === 0 ? 1 : 0,
    }));
    for (const k of [1, 2, 32, 128]) {
      expect(majorityAtK(votes, k)).toBeGreaterThan(0);
      expect(majorityAtK(votes, k)).toBeLessThanOrEqual(1);
    }
    // 17 answers occur four times and 20 three times; of those that tie, one is right.
    expect(majorityAtK(votes, 128)).toBeCloseTo(1 / 17, 10);
  });
});

describe('paired tests', () => {
  test('do not depend on the order of tasks; models swapped only change the sign', () => {
    fc.assert(
      fc.property(pairs, fc.nat(), fc.constantFrom(0, 16), (list, seed, exactUpTo) => {
        const options = { exactUpTo, resamples: 300 };
        const plain = pairedPermutation(left(list), right(list), options);
        const moved = shuffled(list, seed);
        expect(pairedPermutation(left(moved), right(moved), options).pValue).toBe(plain.pValue);
        const swapped = pairedPermutation(right(list), left(list), options);
        expect(swapped.pValue).toBe(plain.pValue);
        expect(swapped.difference).toBeCloseTo(-plain.difference, 12);
        expect(wilcoxon(right(list), left(list)).pValue).toBeCloseTo(
          wilcoxon(left(moved), right(moved)).pValue,
          12,
        );
      }),
    );
  });

  test('drawn signs agree with all signs', () => {
    const random = randomAt(5, 'differences');
    const a = Array.from({ length: 14 }, () => random.normal() + 0.4);
    const b = a.map(() => 0);
    const exact = pairedPermutation(a, b);
    const drawn = pairedPermutation(a, b, { exactUpTo: 0, resamples: 40_000 });
    expect([exact.isExact, drawn.isExact]).toEqual([true, false]);
    // Five standard errors of 40,000 draws.
    const slack = 5 * Math.sqrt((exact.pValue * (1 - exact.pValue)) / 40_000);
    expect(Math.abs(drawn.pValue - exact.pValue)).toBeLessThan(slack);
  });

  test('a task on which both models do the same changes neither p-value', () => {
    fc.assert(
      fc.property(pairs, score, (list, same) => {
        const [a, b] = [left(list), right(list)];
        expect(pairedPermutation([...a, same], [...b, same]).pValue).toBe(
          pairedPermutation(a, b).pValue,
        );
        expect(wilcoxon([...a, same], [...b, same]).pValue).toBe(wilcoxon(a, b).pValue);
      }),
    );
  });

  test('equal models have p = 1 and need no number of tasks', () => {
    const comparison = comparePaired([0.25, 1, 0], [0.25, 1, 0], quick);
    expect(comparison).toMatchObject({ pValue: 1, wins: 0, ties: 3, losses: 0 });
    expect(comparison.tasksNeeded).toBeUndefined();
    expect(mcnemar(0, 0)).toBe(1);
  });

  test('a comparison of whole clusters is less sure than one of their tasks', () => {
    const a = Array.from({ length: 12 }, (_, index) => (index < 9 ? 1 : 0));
    const b = a.map(() => 0.5);
    const clusters = a.map((_, index) => Math.floor(index / 3));
    const alone = comparePaired(a, b);
    const together = comparePaired(a, b, { clusters });
    expect(together.pValue).toBeGreaterThan(alone.pValue);
    expect(together.difference.clusterCount).toBe(4);
    expect(together.tasksNeeded).toBeDefined();
  });

  test('the p-value of McNemar is symmetric, and the sign test of wins and losses', () => {
    fc.assert(
      fc.property(fc.nat(80), fc.nat(80), (b, c) => {
        expect(mcnemar(b, c)).toBe(mcnemar(c, b));
        const { pValue } = winRate(
          [...new Array<'win'>(b).fill('win'), ...new Array<'loss'>(c).fill('loss'), 'tie'],
          undefined,
          { resamples: 2 },
        );
        expect(pValue).toBe(mcnemar(b, c));
      }),
    );
  });

  test('hundreds of thousands of tasks overflow nothing', () => {
    expect(mcnemar(250_000, 250_000)).toBe(1);
    // 5.7 standard deviations off, where the corrected normal approximation is good to a part in 100.
    const ratio = mcnemar(248_000, 252_000) / mcnemar(248_000, 252_000, 'chi-squared-corrected');
    expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  });
});

describe('cohenKappa', () => {
  const ratings = fc.array(
    fc.tuple(fc.constantFrom('yes', 'no', 'né'), fc.constantFrom('yes', 'no', 'né')),
    { minLength: 1, maxLength: 30 },
  );

  test('is the same for raters swapped, items moved and categories renamed', () => {
    fc.assert(
      fc.property(ratings, fc.nat(), (list, seed) => {
        const plain = cohenKappa(left(list), right(list));
        const moved = shuffled(list, seed);
        const names = { yes: 3, no: 'z', né: 1 } as Record<string, string | number>;
        const rename = (one: string): string | number => names[one] as string | number;
        const other = cohenKappa(right(moved).map(rename), left(moved).map(rename));
        expect(other.agreement).toBeCloseTo(plain.agreement, 12);
        expect(other.kappa === undefined).toBe(plain.kappa === undefined);
        expect(other.kappa ?? 0).toBeCloseTo(plain.kappa ?? 0, 12);
        expect(other.standardError ?? 0).toBeCloseTo(plain.standardError ?? 0, 10);
      }),
    );
  });

  test('is 0 beyond doubt where one rater has one category', () => {
    fc.assert(
      fc.property(ratings, (list) => {
        const { kappa, standardError } = cohenKappa(
          ['no', ...list.map(() => 'no')],
          ['yes', ...right(list)],
        );
        expect(kappa).toBeCloseTo(0, 12);
        expect(standardError).toBeCloseTo(0, 12);
      }),
    );
  });

  test('is 1 for raters that agree, absent where one category is all there is', () => {
    expect(cohenKappa(['a', 'b', 'a'], ['a', 'b', 'a']).kappa).toBe(1);
    expect(cohenKappa(['a', 'a'], ['a', 'a'])).toEqual({ agreement: 1, expected: 1, count: 2 });
  });

  test('weighted, forgives a neighbor more than a far category', () => {
    const first = [1, 2, 3, 4, 5, 3];
    const near = cohenKappa(first, [1, 2, 3, 4, 4, 3], { weights: 'quadratic' }).kappa ?? 0;
    const far = cohenKappa(first, [1, 2, 3, 4, 1, 3], { weights: 'quadratic' }).kappa ?? 0;
    expect(near).toBeGreaterThan(far);
  });
});

describe('refusals', () => {
  test.each([
    ['k = 0', () => passAtK(4, 2, 0), ConfigError, 'k: expected an integer in [1, 4], got 0'],
    ['k > n', () => passAtK(4, 2, 5), ConfigError, 'got 5'],
    ['c > n', () => passAtK(4, 5, 1), ConfigError, 'c: expected'],
    ['no votes', () => majorityAtK([], 1), ConfigError, 'k: expected'],
    ['NaN', () => bootstrapMean([0, Number.NaN]), DataError, 'got NaN at index 1'],
    ['no values', () => bootstrapMean([]), DataError, 'at least one value'],
    ['a lost cluster', () => bootstrapMean([1, 2], ['a']), ShapeError, 'values has 2 entries'],
    ['a level of 1', () => bootstrapMean([1], undefined, { level: 1 }), ConfigError, 'level'],
    ['a statistic of nothing', () => bootstrap(2, () => Number.NaN), DataError, 'statistic'],
    ['one task more', () => pairedPermutation([1, 2], [1]), ShapeError, 'b has 1'],
    ['half a task', () => mcnemar(0.5, 1), ConfigError, 'b: expected'],
    ['an unknown rating', () => cohenKappa([1], [2], { categories: [1] }), DataError, 'rating 2'],
    ['no difference', () => tasksNeeded({ difference: 0, standardDeviation: 1 }), ConfigError, '0'],
    ['a p-value of 2', () => holm([0.5, 2]), ConfigError, 'pValues[1]'],
    ['a truth of NaN', () => meanRelativeAccuracy(1, Number.NaN), ConfigError, 'truth'],
    ['more than all', () => wilson(3, 2), ConfigError, 'successes'],
  ])('%s', (_, call, kind, words) => {
    expect(call).toThrow(kind);
    expect(call).toThrow(words);
  });

  test('an estimate that is no number keeps no tolerance', () => {
    expect(meanRelativeAccuracy(Number.NaN, 3)).toBe(0);
    expect(meanRelativeAccuracy(0, 0)).toBe(1);
  });
});
