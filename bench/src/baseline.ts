/** This run beside an earlier one: what got faster, what got slower, what is a tie. */
import { readFileSync } from 'node:fs';
import { DataError, messageOf } from '@saccade/core';
import type { OpResult } from './run-ops.ts';
import { isTie, isUndecided } from './statistics.ts';

export interface Comparison {
  readonly key: string;
  /** Earlier time / time now: above 1 is faster now. */
  readonly ratio: number;
  readonly verdict: 'faster' | 'slower' | 'tie';
  /** Whether one of the runs took too short samples to be repeated with the same verdict. */
  readonly isUnsure?: true;
  /** Whether p20–p80 of one of the runs is wider than the difference, where that is no tie. */
  readonly isUndecided?: true;
}

/** Seconds of a measurement below which its median moves from run to run by more than its spread. */
const LEAST_SECONDS = 1;

/** The key of a result; only results with equal keys are compared. */
export function keyOf({ op, case: shape, pass, dtype }: OpResult): string {
  return `${op} ${shape} ${pass} ${dtype}`;
}

/** What `--json` wrote of a run. */
export interface EarlierRun {
  readonly results: readonly OpResult[];
  /** About how long each measurement took; absent in files of earlier versions. */
  readonly measurementSeconds?: number;
}

/**
 * The results that both runs have, in the order of this one.
 *
 * @param seconds  about how long each measurement of this run took
 */
export function compareRuns(
  now: readonly OpResult[],
  before: EarlierRun,
  seconds: number,
): readonly Comparison[] {
  const earlier = new Map(before.results.map((result) => [keyOf(result), result.seconds]));
  const shortest = Math.min(seconds, before.measurementSeconds ?? seconds);
  return now.flatMap((result) => {
    const then = earlier.get(keyOf(result));
    if (then === undefined) return [];
    const ratio = then.median / result.seconds.median;
    const verdict = isTie(then, result.seconds) ? 'tie' : ratio > 1 ? 'faster' : 'slower';
    const isUnsure = shortest < LEAST_SECONDS && verdict !== 'tie';
    const isWide = isUndecided(then, result.seconds) && verdict !== 'tie';
    return [
      {
        ...{ key: keyOf(result), ratio, verdict },
        ...(isUnsure && { isUnsure }),
        ...(isWide && { isUndecided: isWide }),
      },
    ];
  });
}

/** What a file holds that `--json` wrote. @throws DataError if it is not one */
export function readResults(path: string): EarlierRun {
  const refuse = (why: string): DataError =>
    new DataError(`${path} is no result of a benchmark: ${why}. Pass a file that --json wrote.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const { results, measurementSeconds } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(results)) throw refuse('it has no list "results"');
  for (const result of results as Partial<OpResult>[]) {
    if (typeof result.op !== 'string' || typeof result.seconds?.median !== 'number') {
      throw refuse('a result lacks "op" or "seconds"');
    }
  }
  return {
    results: results as OpResult[],
    ...(typeof measurementSeconds === 'number' && { measurementSeconds }),
  };
}
