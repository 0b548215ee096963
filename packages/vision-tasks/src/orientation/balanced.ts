/** Choices that come equally often: every block of tasks has each of them once, in an order of its own. */
import { randomAt } from '@saccade/core';

/**
 * The choice of a task.
 *
 * @param path  address of the random order, without the number of the block
 */
export function balancedChoice<Choice>(
  choices: readonly Choice[],
  index: number,
  seed: number,
  ...path: readonly (string | number)[]
): Choice {
  const block = Math.floor(index / choices.length);
  const order = randomAt(seed, ...path, block).shuffle(choices);
  return order[index % choices.length] as Choice;
}
