/**
 * Golden values: scipy, statsmodels and scikit-learn, or a paper's definition in rational numbers, on at
 * least 100 random cases each. `parity/check.mjs` makes them anew.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Alternative,
  type BootstrapOptions,
  bootstrapMean,
  cohenKappa,
  holm,
  type KappaWeights,
  majorityAtK,
  mcnemar,
  meanRelativeAccuracy,
  normalQuantile,
  normalTail,
  pairedPermutation,
  passAtK,
  powerOf,
  tasksNeeded,
  wilcoxon,
  wilson,
} from './index.ts';

const file = new URL('../parity/fixtures.json', import.meta.url);
const fixtures: Record<string, readonly [unknown, unknown][]> = JSON.parse(
  readFileSync(file, 'utf8'),
);

/** Compares our results of every case of a family with the kept ones. */
function compare<Input, Result extends number | readonly number[]>(
  name: string,
  ours: (input: Input) => Result,
  tolerance = 1e-9,
): void {
  const cases = fixtures[name] as unknown as readonly [Input, Result][];
  expect(cases.length).toBeGreaterThanOrEqual(100);
  for (const [input, expected] of cases) {
    const mine = [ours(input)].flat() as number[];
    const theirs = [expected].flat() as number[];
    expect(mine.length).toBe(theirs.length);
    for (const [index, value] of mine.entries()) {
      const other = theirs[index] as number;
      const error = Math.abs(value - other) / Math.max(1e-300, Math.abs(other), Math.abs(value));
      // Numbers close to 0 are compared as they are.
      const isClose = error <= tolerance || Math.abs(value - other) <= tolerance * 1e-3;
      expect(isClose, `${name} ${JSON.stringify(input)}: ${value}, expected ${other}`).toBe(true);
    }
  }
}

describe('equals outside sources', () => {
  test('passAtK: exact binomials in rational numbers', () => {
    compare<[number, number, number], number>('pass_at_k', (input) => passAtK(...input));
  });

  test('majorityAtK: every choice of k samples, counted', () => {
    compare<[number[], number[], number], number>('majority_at_k', ([answers, scores, k]) => {
      const votes = answers.map((answer) => ({
        answer: answer === 0 ? undefined : String(answer),
        score: answer === 0 ? 0 : (scores[answer] as number) / 4,
      }));
      return majorityAtK(votes, k);
    });
  });

  test('bootstrapMean: scipy.stats.bootstrap with the same resamples, percentile and BCa', () => {
    type Input = [number[][], number, number, number, NonNullable<BootstrapOptions['method']>];
    compare<Input, number[]>('bootstrap', ([groups, seed, resamples, level, method]) => {
      const clusters = groups.flatMap((group, index) => group.map(() => index));
      const options = { seed, resamples, level, method };
      const { estimate, low, high, standardError } = bootstrapMean(
        groups.flat(),
        clusters,
        options,
      );
      return [estimate, low, high, standardError];
    });
  });

  test('pairedPermutation: scipy.stats.permutation_test over all signs', () => {
    compare<[number[], number[], Alternative], number[]>('permutation', ([a, b, alternative]) => {
      const { difference, pValue } = pairedPermutation(a, b, { alternative });
      return [difference, pValue];
    });
  });

  test('mcnemar: scipy.stats.binomtest and statsmodels', () => {
    compare<[number, number], number[]>('mcnemar', ([b, c]) =>
      (['exact', 'mid-p', 'chi-squared', 'chi-squared-corrected'] as const).map((method) =>
        mcnemar(b, c, method),
      ),
    );
  });

  test('wilcoxon: scipy.stats.wilcoxon, exact and with ties', () => {
    compare<[number[], number[], string], number>('wilcoxon', ([a, b, method]) => {
      const { pValue, isExact } = wilcoxon(a, b);
      expect(isExact).toBe(method === 'exact');
      return pValue;
    });
  });

  test('wilson: statsmodels', () => {
    compare<[number, number, number], number[]>('wilson', ([successes, count, level]) => {
      const { low, high } = wilson(successes, count, level);
      return [low, high];
    });
  });

  test('cohenKappa: scikit-learn, with the interval of statsmodels, weighted too', () => {
    type Input = [number[], number[], number, KappaWeights];
    compare<Input, number[]>('kappa', ([first, second, kinds, weights]) => {
      const categories = Array.from({ length: kinds }, (_, index) => index);
      const { kappa, interval } = cohenKappa(first, second, { weights, categories });
      return [kappa ?? Number.NaN, interval?.low ?? Number.NaN, interval?.high ?? Number.NaN];
    });
  });

  test('meanRelativeAccuracy: the paper in rational numbers, and the bound of its code', () => {
    compare<[number, number], number[]>('mean_relative_accuracy', ([estimate, truth]) => [
      meanRelativeAccuracy(estimate, truth),
      meanRelativeAccuracy(estimate, truth, { isBoundKept: true }),
    ]);
  });

  test('tasksNeeded and powerOf: statsmodels.stats.power', () => {
    type Input = [number, number, number, number, number];
    compare<Input, number[]>('power', ([difference, standardDeviation, level, power, count]) => {
      const options = { difference, standardDeviation, level };
      return [tasksNeeded({ ...options, power }), powerOf(count, options)];
    });
  });

  test('holm: statsmodels.stats.multitest', () => {
    compare<number[], number[]>('holm', (values) => [...holm(values)]);
  });

  test('normalTail and normalQuantile: scipy, to twelve digits in both tails', () => {
    compare<[number, number], number[]>(
      'normal',
      ([x, p]) => [normalTail(x), normalQuantile(p)],
      1e-12,
    );
  });
});
