/** A training split of a fixed number of tasks, repeated as often as a run needs. */
import { DataError, randomAt } from '@saccade/core';
import type { Task, TaskSet } from './task.ts';

/** Before the number of the pass, in the id of a task that comes again. */
const PASS = '@';

/**
 * The same tasks with a training split that does not end: every pass over it gives each task once. The
 * first pass keeps the order of the task set; later ones have orders of their own, drawn from the seed.
 * From the second pass on ids end with the number of the pass, `words-train-3@2`, so that a task can be
 * rolled out again while it is still in flight.
 */
export function inEpochs(taskSet: TaskSet, seed: number): TaskSet {
  let shuffled: { readonly pass: number; readonly order: readonly number[] } | undefined;
  return {
    name: taskSet.name,
    description: taskSet.description,
    ...(taskSet.facts && { facts: () => taskSet.facts?.() ?? [] }),
    size: (split) => (split === 'train' ? Number.POSITIVE_INFINITY : taskSet.size(split)),
    async task(split, index) {
      const size = taskSet.size(split);
      if (split !== 'train' || index < size) return await taskSet.task(split, index);
      if (!(size >= 1)) throw new DataError(`The task set ${taskSet.name} has no training tasks.`);
      const pass = Math.floor(index / size);
      if (shuffled?.pass !== pass) shuffled = { pass, order: shuffle(size, seed, pass) };
      const task = await taskSet.task(split, shuffled.order[index % size] ?? 0);
      return { ...task, id: `${task.id}${PASS}${pass + 1}` };
    },
  };
}

/** The id of a task without the pass in which it came. */
export function idInTaskSet(id: Task['id']): string {
  return id.replace(/@\d+$/, '');
}

function shuffle(size: number, seed: number, pass: number): readonly number[] {
  const indices = Array.from({ length: size }, (_, index) => index);
  return randomAt(seed, 'pass', pass).shuffle(indices);
}
