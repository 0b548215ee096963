/** Questions about a map, each with the program that gives its answer. */
import type { Random } from '@saccade/core';
import type { Region } from './map-data.ts';
import { classOf, type MapPlan } from './plan-map.ts';

/**
 * How the answer follows from the classes of regions:
 *
 * | operation          | answer                                                              |
 * | ------------------ | ------------------------------------------------------------------- |
 * | `class`            | the class of the region                                             |
 * | `highest`          | the one of four regions that is in the highest class                |
 * | `count`            | how many of the regions are in the class `bound`                    |
 * | `count-above`      | how many of the regions are in the class `bound` or a higher one    |
 * | `neighbors-higher` | how many of the regions, all neighbors of `of`, are in a higher class than it |
 * | `neighbor-highest` | the one of the regions, all neighbors of `of`, in the highest class |
 */
export interface MapProgram {
  readonly operation: MapOperation;
  /** Names of the regions that decide the answer. */
  readonly regions: readonly string[];
  /** A class, as the legend writes it. */
  readonly bound?: string;
  /** The region whose neighbors are meant. */
  readonly of?: string;
}

type MapOperation =
  | 'class'
  | 'highest'
  | 'count'
  | 'count-above'
  | 'neighbors-higher'
  | 'neighbor-highest';

/** The operations of each difficulty, 1 to 3. */
const operationsOf: readonly (readonly MapOperation[])[] = [
  ['class', 'highest', 'count', 'count-above'],
  ['class', 'highest', 'count', 'count-above', 'neighbors-higher', 'neighbor-highest'],
  ['class', 'highest', 'count', 'neighbors-higher', 'neighbor-highest'],
];

/** Counts above this are a matter of patience, not of looking. */
const MOST_COUNTED = 12;

interface MapQuestion {
  readonly question: string;
  readonly program: MapProgram;
  readonly answer: string;
}

/** Draws a question; undefined where the drawn one cannot be answered from the image for sure. */
export function askMap(
  plan: MapPlan,
  level: number,
  labels: ReadonlyMap<string, unknown>,
  random: Random,
): MapQuestion | undefined {
  const { map, table, classes } = plan;
  const [one, many] = map.region;
  const operation = random.pick(operationsOf[level - 1] ?? (['class'] as const));
  const rank = (name: string): number => classOf(plan, name) ?? -1;
  const valued = map.regions.filter(({ name }) => rank(name) >= 0);
  // A county that is called like its state could be taken for the state.
  const askable = valued.filter(({ name }) => labels.has(name) && name !== map.place);
  const named = random.shuffle(askable);
  const [first] = named;
  if (first === undefined) return undefined;
  const ask = (question: string, program: Omit<MapProgram, 'operation'>): MapQuestion => {
    const whole: MapProgram = { operation, ...program };
    return { question, program: whole, answer: answerOf(whole, rank, classes) };
  };
  switch (operation) {
    case 'class':
      return ask(
        `In which class of the legend is ${first.name}? Answer with the words of the legend.`,
        { regions: [first.name] },
      );
    case 'highest': {
      const regions = names(named.slice(0, 4));
      const [best = 0, next = 0] = regions.map(rank).sort((a, b) => b - a);
      if (best === next) return undefined;
      const listed = `${regions.slice(0, -1).join(', ')}, or ${regions.at(-1)}`;
      return ask(`Which ${one} has the highest ${table.measure}: ${listed}?`, { regions });
    }
    case 'count':
    case 'count-above': {
      const isAbove = operation === 'count-above';
      // Above the lowest class lies all, and above the highest nothing.
      const bound = isAbove
        ? 1 + random.integer(classes.length - 2)
        : random.integer(classes.length);
      const found = valued.filter(({ name }) =>
        operation === 'count' ? rank(name) === bound : rank(name) >= bound,
      );
      if (found.length === 0 || found.length > MOST_COUNTED) return undefined;
      const text = classes[bound] ?? '';
      const question =
        operation === 'count'
          ? `How many ${many} are in the class "${text}"?`
          : `How many ${many} are in the class "${text}" or a higher one?`;
      return ask(question, { regions: names(valued), bound: text });
    }
    case 'neighbors-higher':
    case 'neighbor-highest': {
      const around = neighborsOf(first, valued);
      if (around === undefined || around.length < 3) return undefined;
      const regions = names(around);
      if (operation === 'neighbors-higher') {
        return ask(
          `How many of the ${many} that share a border with ${first.name} are in a higher class ` +
            `than ${first.name}?`,
          { regions, of: first.name },
        );
      }
      const [best = 0, next = 0] = regions.map(rank).sort((a, b) => b - a);
      const isNamed = regions.every((name) => labels.has(name));
      if (best === next || !isNamed) return undefined;
      return ask(
        `Of the ${many} that share a border with ${first.name}, which is in the highest class?`,
        { regions, of: first.name },
      );
    }
  }
}

/** All neighbors of a region; undefined where one is unclear or has no value. */
function neighborsOf(region: Region, valued: readonly Region[]): readonly Region[] | undefined {
  if (region.isUnclear) return undefined;
  const around = valued.filter(({ name }) => region.neighbors.includes(name));
  return around.length === region.neighbors.length ? around : undefined;
}

const names = (regions: readonly Region[]): readonly string[] => regions.map(({ name }) => name);

function answerOf(
  { operation, regions, bound, of }: MapProgram,
  rank: (name: string) => number,
  classes: readonly string[],
): string {
  const limit = classes.indexOf(bound ?? '');
  const countOf = (isCounted: (name: string) => boolean) =>
    String(regions.filter(isCounted).length);
  switch (operation) {
    case 'class':
      return classes[rank(regions[0] ?? '')] ?? '';
    case 'count':
      return countOf((name) => rank(name) === limit);
    case 'count-above':
      return countOf((name) => rank(name) >= limit);
    case 'neighbors-higher':
      return countOf((name) => rank(name) > rank(of ?? ''));
    case 'highest':
    case 'neighbor-highest':
      return [...regions].sort((a, b) => rank(b) - rank(a))[0] ?? '';
  }
}
