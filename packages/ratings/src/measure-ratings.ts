/** What ratings say: agreement of raters, win rates of models, means on the scale. */
import { DataError } from '@saccade/core';
import {
  bootstrapMean,
  cohenKappa,
  type Estimate,
  holm,
  type Kappa,
  type Preference,
  pairedPermutation,
  type WinRate,
  winRate,
} from '@saccade/statistics';
import type { Rating } from './rating-files.ts';
import type { StudyItem, StudyKey } from './study.ts';

/** Agreement of two raters on the items that both rated. */
export interface RaterAgreement extends Kappa {
  readonly raters: readonly [string, string];
}

/** How often the first of two models is preferred. */
export interface ModelPair {
  readonly models: readonly [string, string];
  /** Over the ratings of all raters, clustered by task. */
  readonly rate: WinRate;
  readonly byRater: Readonly<Record<string, WinRate>>;
  /** Of a sign-flip test over tasks, a task's ratings taken together. */
  readonly pValue: number;
  /** The same, for all pairs of models at once (Holm). */
  readonly adjustedPValue: number;
  readonly taskCount: number;
}

/** A model's mean on the scale, clustered by task. */
export interface ModelMean {
  readonly model: string;
  readonly mean: Estimate;
  readonly ratingCount: number;
}

/** All that a study found. */
export interface RatingResults {
  readonly study: string;
  readonly itemCount: number;
  /** Rated items by rater. */
  readonly rated: Readonly<Record<string, number>>;
  readonly agreement: readonly RaterAgreement[];
  /** Of a study of pairs; empty for single trajectories. */
  readonly pairs: readonly ModelPair[];
  /** Of a study of single trajectories; empty for pairs. */
  readonly means: readonly ModelMean[];
}

/** Seed and level of intervals. */
export interface MeasureRatingsOptions {
  readonly seed?: number;
  /** Default 0.95. */
  readonly level?: number;
  /** Of the bootstrap. Default 10,000. */
  readonly resamples?: number;
}

interface Placed {
  readonly rater: string;
  readonly item: StudyItem;
  /** The item's models by name. */
  readonly models: readonly string[];
  /** A where the first of `models` is better, whatever side the page showed it on. */
  readonly value: string;
}

/**
 * Measures ratings. The order of files, raters and ratings changes nothing.
 *
 * @throws DataError without ratings
 */
export function measureRatings(
  key: StudyKey,
  ratings: readonly Rating[],
  options: MeasureRatingsOptions = {},
): RatingResults {
  if (ratings.length === 0) {
    throw new DataError('No item has been rated. Give files with ratings.');
  }
  const placed = place(key, ratings);
  const raters = Object.keys(key.orders).sort();
  const rated = Object.fromEntries(
    raters.map((rater) => [rater, placed.filter((one) => one.rater === rater).length]),
  );
  return {
    study: key.study,
    itemCount: key.items.length,
    rated,
    agreement: agreements(key, placed, raters, options),
    pairs: key.mode === 'pairs' ? modelPairs(placed, raters, options) : [],
    means: key.mode === 'single' ? modelMeans(key, placed, options) : [],
  };
}

/** Ratings by model instead of by side, in the order of the key's items. */
function place(key: StudyKey, ratings: readonly Rating[]): readonly Placed[] {
  const items = new Map(key.items.map((item, index) => [item.id, { item, index }]));
  const swapped = new Set(
    Object.entries(key.orders).flatMap(([rater, order]) =>
      order.filter((one) => one.isSwapped).map(({ id }) => JSON.stringify([rater, id])),
    ),
  );
  return ratings
    .flatMap(({ rater, item: id, value }) => {
      const found = items.get(id);
      if (found === undefined) return [];
      const { models } = found.item;
      const sorted = [...models].sort();
      // Twice the other side is the same side.
      const isReversed = sorted[0] !== models[0];
      const isTurned = swapped.has(JSON.stringify([rater, id])) !== isReversed;
      return [{ rater, ...found, models: sorted, value: isTurned ? otherSide(value) : value }];
    })
    .sort((a, b) => a.index - b.index || (a.rater < b.rater ? -1 : 1));
}

function otherSide(value: string): string {
  if (value === 'A') return 'B';
  return value === 'B' ? 'A' : value;
}

/** Every two raters with an item in common. */
function agreements(
  key: StudyKey,
  placed: readonly Placed[],
  raters: readonly string[],
  { level = 0.95 }: MeasureRatingsOptions,
): readonly RaterAgreement[] {
  const byRater = new Map(
    raters.map((rater) => [
      rater,
      new Map(
        placed.filter((one) => one.rater === rater).map(({ item, value }) => [item.id, value]),
      ),
    ]),
  );
  return raters.flatMap((first, at) =>
    raters.slice(at + 1).flatMap((second): readonly RaterAgreement[] => {
      const [one, other] = [byRater.get(first), byRater.get(second)];
      const shared = key.items.flatMap(({ id }) => {
        const [a, b] = [one?.get(id), other?.get(id)];
        return a === undefined || b === undefined ? [] : [[a, b] as const];
      });
      if (shared.length === 0) return [];
      const found = cohenKappa(
        shared.map(([a]) => a),
        shared.map(([, b]) => b),
        {
          // Steps of a scale are near or far; A, tie and B are an order too, but its κ is not weighted.
          weights: key.mode === 'single' ? 'quadratic' : 'none',
          categories: key.choices.map(({ value }) => value),
          level,
        },
      );
      return [{ raters: [first, second], ...found }];
    }),
  );
}

const preferences: Readonly<Record<string, Preference>> = { A: 'win', tie: 'tie', B: 'loss' };
const points: Readonly<Record<Preference, number>> = { win: 1, tie: 0.5, loss: 0 };

function modelPairs(
  placed: readonly Placed[],
  raters: readonly string[],
  options: MeasureRatingsOptions,
): readonly ModelPair[] {
  const groups = groupBy(placed, ({ models }) => JSON.stringify(models));
  const found = [...groups].map(([name, own]) => {
    const rateOf = (some: readonly Placed[]): WinRate =>
      winRate(
        some.map(({ value }) => preferences[value] ?? 'tie'),
        some.map(({ item }) => item.taskId),
        options,
      );
    const tasks = [...groupBy(own, ({ item }) => item.taskId).values()].map((some) => {
      const sum = some.reduce((total, { value }) => total + points[preferences[value] ?? 'tie'], 0);
      return sum / some.length - 0.5;
    });
    const { pValue } = pairedPermutation(
      tasks,
      tasks.map(() => 0),
      { seed: options.seed ?? 0 },
    );
    const byRater = Object.fromEntries(
      raters.flatMap((rater) => {
        const some = own.filter((one) => one.rater === rater);
        return some.length === 0 ? [] : [[rater, rateOf(some)]];
      }),
    );
    const models = JSON.parse(name) as [string, string];
    return { models, rate: rateOf(own), byRater, pValue, taskCount: tasks.length };
  });
  found.sort((a, b) => (JSON.stringify(a.models) < JSON.stringify(b.models) ? -1 : 1));
  const adjusted = holm(found.map(({ pValue }) => pValue));
  return found.map((pair, index) => ({ ...pair, adjustedPValue: adjusted[index] ?? pair.pValue }));
}

function modelMeans(
  key: StudyKey,
  placed: readonly Placed[],
  options: MeasureRatingsOptions,
): readonly ModelMean[] {
  return key.models.flatMap((model): readonly ModelMean[] => {
    const own = placed.filter(({ models }) => models[0] === model);
    if (own.length === 0) return [];
    const mean = bootstrapMean(
      own.map(({ value }) => Number(value)),
      own.map(({ item }) => item.taskId),
      options,
    );
    return [{ model, mean, ratingCount: own.length }];
  });
}

function groupBy<T>(list: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(nameOf(one));
    if (group === undefined) groups.set(nameOf(one), [one]);
    else group.push(one);
  }
  return groups;
}
