/** The settings of difficulty that task sets share, and how a difficulty is drawn. */
import { ConfigError, type Random } from '@saccade/core';
import { count } from '@saccade/core/settings';

/** Difficulty 1 to 3, of most task sets. */
export type Difficulty = 1 | 2 | 3;

/**
 * Settings of a seed and of a range of difficulties.
 *
 * @param seedOf    what the seed decides
 * @param harder    what a higher difficulty means
 * @param most      the highest difficulty
 */
export const difficultySettings = (seedOf: string, harder: string, most = 3) => ({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: `Seed of ${seedOf}.`,
  }),
  easiest: count({
    min: 1,
    max: most,
    default: 1,
    unit: 'difficulty',
    about: 'Lowest difficulty; every difficulty in the range is as likely.',
  }),
  hardest: count({
    min: 1,
    max: most,
    default: most,
    unit: 'difficulty',
    about: `Highest difficulty: ${harder}.`,
  }),
});

interface DifficultyRange {
  readonly easiest: number;
  readonly hardest: number;
}

/** @throws ConfigError where the easiest is above the hardest */
export function checkDifficulties({ easiest, hardest }: DifficultyRange): void {
  if (easiest <= hardest) return;
  throw new ConfigError(
    'easiest',
    `taskSet.easiest: expected at most taskSet.hardest (${hardest}), got ${easiest}.`,
  );
}

/** A difficulty in a range, each as likely. */
export function drawDifficulty({ easiest, hardest }: DifficultyRange, random: Random): Difficulty {
  return drawLevel({ easiest, hardest }, random) as Difficulty;
}

/** A level in a range that may go beyond three, each as likely. */
export function drawLevel({ easiest, hardest }: DifficultyRange, random: Random): number {
  return easiest + random.integer(hardest - easiest + 1);
}

/**
 * Checks that every name is one of the known ones; none means all.
 *
 * @throws ConfigError for a name that is not known
 */
export function someOf<Name extends string>(
  setting: string,
  given: readonly string[],
  known: readonly Name[],
): readonly Name[] {
  for (const name of given) {
    if ((known as readonly string[]).includes(name)) continue;
    throw new ConfigError(
      setting,
      `taskSet.${setting}: expected some of ${known.join(', ')}, got ${name}.`,
    );
  }
  return given.length === 0 ? known : (given as Name[]);
}
