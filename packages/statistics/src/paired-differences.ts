/** Differences of two models, task by task. */
import { expectPairs, expectValues } from './arguments.ts';

/**
 * a − b by task.
 *
 * @throws ShapeError if the lengths differ
 * @throws DataError for no tasks, or scores that are not finite
 */
export function pairedDifferences(a: readonly number[], b: readonly number[]): readonly number[] {
  expectPairs(['a', a], ['b', b]);
  expectValues('a', a);
  expectValues('b', b);
  return a.map((value, index) => value - (b[index] as number));
}
