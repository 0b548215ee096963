/** Studies, their files, and what is measured from them: nothing is lost, and nothing is guessed. */
import { ConfigError, DataError, randomAt } from '@saccade/core';
import { cohenKappa } from '@saccade/statistics';
import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { measureRatings } from './measure-ratings.ts';
import { drawRatingCsv } from './rating-csv.ts';
import { type Rating, readRatings } from './rating-files.ts';
import { ratingTables } from './rating-tables.ts';
import { ratedOf, shownOf } from './study.fixture.ts';
import { parseStudyKey, planStudy, type StudyKey, type StudyOptions } from './study.ts';

const options: StudyOptions = {
  mode: 'pairs',
  title: 'Two models',
  criterion: 'Which one looked where the answer is?',
  raters: ['1', '2'],
  seed: 1,
};
const key = planStudy(ratedOf(20, ['small', 'large']), options);
const find = async (model: string, taskId: string) => shownOf(model, taskId);

/** Ratings by a rule that knows the models, as a rater who is not blind would give them. */
function rateBy(
  study: StudyKey,
  rater: string,
  better: (models: readonly string[], taskId: string) => string | undefined,
): readonly Rating[] {
  return (study.orders[rater] ?? []).map(({ id, isSwapped }) => {
    const item = study.items.find((one) => one.id === id);
    const sides = isSwapped ? [...(item?.models ?? [])].reverse() : (item?.models ?? []);
    const best = better(sides, item?.taskId ?? '');
    const value = best === undefined ? 'tie' : best === sides[0] ? 'A' : 'B';
    return { rater, item: id, value, comment: '' };
  });
}

describe('a study', () => {
  it('is the same for the same seed, in any order of trajectories, and another for another', () => {
    const rated = ratedOf(20, ['small', 'large']);
    expect(planStudy(randomAt(1, 'order').shuffle(rated), options)).toEqual(key);
    expect(planStudy(rated, { ...options, seed: 2 }).study).not.toBe(key.study);
    expect(parseStudyKey(JSON.stringify(key), 'key.json')).toEqual(key);
  });

  it('shuffles items and sides for each rater, with half of the items swapped', () => {
    const [first = [], second = []] = Object.values(key.orders);
    expect(first.map(({ id }) => id)).not.toEqual(second.map(({ id }) => id));
    for (const order of [first, second]) {
      expect(new Set(order.map(({ id }) => id)).size).toBe(20);
      expect(order.filter(({ isSwapped }) => isSwapped)).toHaveLength(10);
    }
    // Nor is the first model of an item always the same.
    expect(new Set(key.items.map(({ models }) => models[0])).size).toBe(2);
    for (const { id } of key.items) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('pairs every two models, or shows one at a time', () => {
    const three = planStudy(ratedOf(4, ['a', 'b', 'c']), options);
    expect(three.items).toHaveLength(12);
    const single = planStudy(ratedOf(4, ['a', 'b', 'c']), { ...options, mode: 'single' });
    expect(single.items).toHaveLength(12);
    expect(planStudy(ratedOf(9, ['a', 'b']), { ...options, count: 3 }).items).toHaveLength(3);
  });

  it.each([
    ['one model', ratedOf(2, ['a']), {}, ConfigError, 'two models or more, got 1'],
    [
      'no task in common',
      [...ratedOf(1, ['a']), { model: 'b', taskId: 'x', trajectoryId: 'b' }],
      {},
      DataError,
      'nothing to rate',
    ],
    [
      'a task twice',
      [...ratedOf(1, ['a', 'b']), ...ratedOf(1, ['a'])],
      {},
      DataError,
      'two trajectories of task',
    ],
    [
      'raters of one name',
      ratedOf(1, ['a', 'b']),
      { raters: ['1', '1'] },
      ConfigError,
      '["1","1"]',
    ],
    [
      'a rater of markup',
      ratedOf(1, ['a', 'b']),
      { raters: ['<b>'] },
      ConfigError,
      'letters and digits',
    ],
  ])('refuses %s', (_, rated, change, kind, words) => {
    const plan = () => planStudy(rated, { ...options, ...change });
    expect(plan).toThrow(kind);
    expect(plan).toThrow(words);
  });
});

describe('files of ratings', () => {
  const fill = async (rater: string, value: (row: number) => string): Promise<string> => {
    const text = await drawRatingCsv(key, rater, find);
    const { data, meta } = Papa.parse<Record<string, string>>(text, {
      header: true,
      skipEmptyLines: true,
    });
    const rows = data.map((row, index) => ({
      ...row,
      rating: value(index),
      comment: '=1+1, "x"\n',
    }));
    return `\uFEFF${Papa.unparse(rows, { columns: meta.fields ?? [] })}`;
  };

  it('come back from a spreadsheet, in a rater’s order, without the model’s name', async () => {
    const text = await drawRatingCsv(key, '1', find);
    expect(text).not.toMatch(/small|large/);
    const filled = await fill('1', (row) => ['A', ' tie ', 'b', ''][row % 4] ?? '');
    const ratings = readRatings(filled, key, 'one.csv');
    expect(ratings).toHaveLength(15);
    expect(new Set(ratings.map(({ value }) => value))).toEqual(new Set(['A', 'tie', 'B']));
    expect(ratings[0]?.comment).toBe('=1+1, "x"\n');
    expect(ratings.map(({ item }) => item)).toEqual(
      (key.orders['1'] ?? []).flatMap(({ id }, row) => (row % 4 === 3 ? [] : [id])),
    );
  });

  it('come back from the page', () => {
    const [first] = key.items;
    const file = { format: 1, kind: 'ratings', study: key.study, rater: '2' };
    const ratings = { [first?.id ?? '']: { value: 'A', comment: 'é' } };
    expect(readRatings(JSON.stringify({ ...file, ratings }), key, 'two.json')).toEqual([
      { rater: '2', item: first?.id, value: 'A', comment: 'é' },
    ]);
  });

  const id = key.items[0]?.id;
  const row = (cells: string) => `study,rater,item,rating,comment\n${cells}\n`;
  it.each([
    ['another study', row(`x,1,${id},A,`), 'row 2: it belongs to the study "x"'],
    ['an unknown rater', row(`${key.study},9,${id},A,`), 'no rater "9". It has 1, 2'],
    ['an unknown item', row(`${key.study},1,nobody,A,`), 'no item "nobody"'],
    [
      'an unknown rating',
      row(`${key.study},1,${id},best,`),
      'expected a rating of A, tie, B, got "best"',
    ],
    ['a rating twice', row(`${key.study},1,${id},A,\n${key.study},1,${id},B,`), '1 rates'],
    ['a lost column', `study,rater,rating\n${key.study},1,A\n`, 'the column "item" is missing'],
    ['a broken row', row(`${key.study},1,${id},A,x,y`), 'row 2'],
    ['half a file', '{"format":1,"kind":"ra', 'neither JSON nor CSV'],
    ['another file', '{"format":1,"kind":"ratings-key"}', 'kind is not as the page writes it'],
  ])('refuse %s, and name the place', (_, text, words) => {
    expect(() => readRatings(text, key, 'one.csv')).toThrow(DataError);
    expect(() => readRatings(text, key, 'one.csv')).toThrow(words);
  });

  it('never run as formulas in a spreadsheet, whatever a model answers', async () => {
    const start = fc.constantFrom('=', '+', '-', '@', '\t=', '\r=', ' =', '\u200B=', '＝', '\n+');
    await fc.assert(
      fc.asyncProperty(start, fc.string(), async (sign, rest) => {
        const text = await drawRatingCsv(key, '1', async (model, taskId) =>
          shownOf(model, taskId, 'x', `${sign}${rest}`),
        );
        const { data } = Papa.parse<string[]>(text, { skipEmptyLines: true });
        for (const cells of data) {
          for (const cell of cells) {
            expect(cell).not.toMatch(/^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u);
          }
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('what ratings say', () => {
  const large = (models: readonly string[]) => models.find((model) => model === 'large');

  it('puts every rating back to its model, whichever side it was shown on', () => {
    const ratings = [...rateBy(key, '1', large), ...rateBy(key, '2', large)];
    const { pairs, agreement } = measureRatings(key, ratings);
    expect(pairs).toHaveLength(1);
    expect(pairs[0]?.models).toEqual(['large', 'small']);
    expect(pairs[0]?.rate).toMatchObject({ estimate: 1, wins: 40, losses: 0 });
    expect(pairs[0]?.taskCount).toBe(20);
    expect(pairs[0]?.pValue).toBeLessThan(1e-4);
    // Both call one category for everything: there is no kappa.
    expect(agreement[0]).toMatchObject({ raters: ['1', '2'], agreement: 1, count: 20 });
    expect(agreement[0]).not.toHaveProperty('kappa');
  });

  it('is the same for raters renamed and files in any order; kappa is that of statistics', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 40, maxLength: 40 }),
        (draws) => {
          const pick = (models: readonly string[], draw = 0): string | undefined =>
            draw === 0 ? undefined : [...models].sort()[draw - 1];
          const at = (taskId: string, shift: number): number =>
            draws[Number(taskId.slice(5)) + shift] ?? 0;
          const rate = (study: StudyKey, [a, b]: readonly [string, string]) => [
            ...rateBy(study, a, (models, taskId) => pick(models, at(taskId, 0))),
            ...rateBy(study, b, (models, taskId) => pick(models, at(taskId, 20))),
          ];
          const ratings = rate(key, ['1', '2']);
          const quick = { resamples: 100 };
          const found = measureRatings(key, ratings, quick);
          expect(measureRatings(key, [...ratings].reverse(), quick)).toEqual(found);
          const renamed = planStudy(ratedOf(20, ['small', 'large']), {
            ...options,
            raters: ['x', 'a'],
          });
          const other = measureRatings(renamed, rate(renamed, ['x', 'a']), quick);
          expect(other.pairs[0]?.rate).toEqual(found.pairs[0]?.rate);
          const kappa = cohenKappa(draws.slice(0, 20), draws.slice(20)).kappa;
          for (const one of [found, other]) {
            expect(one.agreement[0]?.kappa ?? Number.NaN).toBeCloseTo(kappa ?? Number.NaN, 10);
          }
        },
      ),
      { numRuns: 10 },
    );
  });

  it('counts what is rated, and takes a rater who did not finish', () => {
    const ratings = [...rateBy(key, '1', large).slice(0, 5), ...rateBy(key, '2', () => undefined)];
    const found = measureRatings(key, ratings);
    expect(found.rated).toEqual({ 1: 5, 2: 20 });
    expect(found.agreement[0]?.count).toBe(5);
    expect(found.pairs[0]?.rate.ties).toBe(20);
    expect(() => measureRatings(key, [])).toThrow(DataError);
  });

  it('means a scale by model, with weighted kappa, and fills tables', () => {
    const study = planStudy(ratedOf(6, ['a', 'b']), { ...options, mode: 'single' });
    const rate = (rater: string, by: (model: string) => number): readonly Rating[] =>
      study.items.map(({ id, models }) => ({
        ...{ rater, item: id, value: String(by(models[0] ?? '')), comment: '' },
      }));
    const ratings = [
      ...rate('1', (model) => (model === 'a' ? 2 : 4)),
      ...rate('2', (model) => (model === 'a' ? 2 : 5)),
    ];
    const found = measureRatings(study, ratings);
    expect(found.means.map(({ model, mean }) => [model, mean.estimate])).toEqual([
      ['a', 2],
      ['b', 4.5],
    ]);
    expect(found.agreement[0]?.kappa).toBeGreaterThan(0.8);
    const tables = ratingTables(found);
    expect(tables.map(({ name }) => name)).toEqual(['mean-ratings', 'agreement']);
    for (const { columns, rows } of tables) {
      for (const row of rows) expect(row).toHaveLength(columns.length);
    }
  });
});
