/** Plans a map: a place, a quantity, and the classes that its values are sorted into. */
import type { Random } from '@saccade/core';
import type { Split } from '@saccade/gym';
import { mapsOf, type RegionMap } from './map-data.ts';

/** A planned map. */
export interface MapPlan {
  readonly map: RegionMap;
  readonly table: RegionMap['tables'][number];
  /** Where one class ends and the next begins, upwards. */
  readonly breaks: readonly number[];
  /** The classes as the legend writes them, lowest first; one more than breaks. */
  readonly classes: readonly string[];
}

/** Fewest and most regions of a map by difficulty. */
const regionCounts = [
  [9, 25],
  [26, 60],
  [53, 100],
] as const;
const classCounts = [4, 5, 6] as const;

/** The class of a region, counted from 0; undefined where it has no value. */
export function classOf({ table, breaks }: MapPlan, name: string): number | undefined {
  const value = table.values[name];
  return value === undefined ? undefined : breaks.filter((each) => value >= each).length;
}

/** Classes hold equal shares of the regions up to this part of a share, so that a map's classes vary. */
const UNEVEN = 0.3;

/** Draws a plan; undefined where the values cannot be sorted into so many classes. */
export function planMap(split: Split, level: number, random: Random): MapPlan | undefined {
  const [fewest, most] = regionCounts[level - 1] ?? regionCounts[0];
  const maps = mapsOf(split).filter(
    ({ regions }) => regions.length >= fewest && regions.length <= most,
  );
  const map = random.pick(maps);
  const table = random.pick(map.tables);
  const values = Object.values(table.values).sort((a, b) => a - b);
  const wanted = classCounts[level - 1] ?? 4;
  const shares = Array.from(
    { length: wanted - 1 },
    (_, index) => (index + 1 + UNEVEN * (2 * random.uniform() - 1)) / wanted,
  );
  const breaks = breaksOf(values, shares);
  if (breaks === undefined) return undefined;
  const first = breaks[0] ?? 0;
  const last = breaks.at(-1) ?? 0;
  const middle = breaks.slice(1).map((end, index) => `${breaks[index]} to ${end}`);
  return { map, table, breaks, classes: [`under ${first}`, ...middle, `${last} or more`] };
}

/** Round numbers between shares of sorted values; undefined where two would be one. */
function breaksOf(
  values: readonly number[],
  shares: readonly number[],
): readonly number[] | undefined {
  const range = (values.at(-1) ?? 0) - (values[0] ?? 0);
  const power = 10 ** Math.floor(Math.log10(range / 5));
  for (const step of [5 * power, 2 * power, power, power / 2]) {
    const breaks = shares.map((share) => {
      const value = values[Math.round(share * values.length)] ?? 0;
      return Number((Math.round(value / step) * step).toFixed(6));
    });
    const bounds = [Number.NEGATIVE_INFINITY, ...breaks, Number.POSITIVE_INFINITY];
    const isFilled = bounds.slice(1).every((end, index) => {
      const start = bounds[index] ?? 0;
      return end > start && values.some((value) => value >= start && value < end);
    });
    if (isFilled) return breaks;
  }
  return undefined;
}
