/** This run beside an earlier one: what got faster, what got slower, what is a tie. */
import { readFileSync } from 'node:fs';
import { DataError, messageOf } from '@saccade/core';
import type { OpResult } from './run-ops.ts';
import { isTie } from './statistics.ts';

export interface Comparison {
  readonly key: string;
  /** Earlier time / time now: above 1 is faster now. */
  readonly ratio: number;
  readonly verdict: 'faster' | 'slower' | 'tie';
}

/** The key of a result; only results with equal keys are compared. */
export function keyOf({ op, case: shape, pass, dtype }: OpResult): string {
  return `${op} ${shape} ${pass} ${dtype}`;
}

/** The results that both runs have, in the order of this one. */
export function compareRuns(
  now: readonly OpResult[],
  before: readonly OpResult[],
): readonly Comparison[] {
  const earlier = new Map(before.map((result) => [keyOf(result), result.seconds]));
  return now.flatMap((result) => {
    const then = earlier.get(keyOf(result));
    if (then === undefined) return [];
    const ratio = then.median / result.seconds.median;
    const verdict = isTie(then, result.seconds) ? 'tie' : ratio > 1 ? 'faster' : 'slower';
    return [{ key: keyOf(result), ratio, verdict }];
  });
}

/** The results in a file that `--json` wrote. @throws DataError if it is not one */
export function readResults(path: string): readonly OpResult[] {
  const refuse = (why: string): DataError =>
    new DataError(`${path} is no result of a benchmark: ${why}. Pass a file that --json wrote.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const results = (parsed as { results?: unknown } | null)?.results;
  if (!Array.isArray(results)) throw refuse('it has no list "results"');
  for (const result of results as Partial<OpResult>[]) {
    if (typeof result.op !== 'string' || typeof result.seconds?.median !== 'number') {
      throw refuse('a result lacks "op" or "seconds"');
    }
  }
  return results as OpResult[];
}
