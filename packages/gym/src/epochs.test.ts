import { DataError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { idInTaskSet, inEpochs } from './epochs.ts';
import type { Split, TaskSet } from './task.ts';

/** As many tasks as asked for, and an error beyond. */
function words(count: number): TaskSet {
  return {
    name: 'words',
    description: 'Words.',
    size: () => count,
    async task(split: Split, index: number) {
      if (index >= count) throw new RangeError(`There is no task ${index}.`);
      const id = `words-${split}-${index}`;
      return { id, question: '?', images: [], answer: String(index), metadata: {} };
    },
  };
}

async function ids(taskSet: TaskSet, from: number, to: number): Promise<readonly string[]> {
  const indices = Array.from({ length: to - from }, (_, i) => from + i);
  return (await Promise.all(indices.map((i) => taskSet.task('train', i)))).map(({ id }) => id);
}

describe('a training split in epochs', () => {
  it('has every task once in each pass, the first in its own order, each id once', async () => {
    const taskSet = inEpochs(words(50), 7);
    expect(taskSet.size('train')).toBe(Number.POSITIVE_INFINITY);
    const first = await ids(taskSet, 0, 50);
    expect(first).toEqual(Array.from({ length: 50 }, (_, i) => `words-train-${i}`));
    const orders = new Set([first.join()]);
    for (let pass = 1; pass < 5; pass++) {
      const again = await ids(taskSet, 50 * pass, 50 * (pass + 1));
      expect(again.every((id) => id.endsWith(`@${pass + 1}`))).toBe(true);
      const known = again.map(idInTaskSet);
      expect([...known].sort()).toEqual([...first].sort());
      orders.add(known.join());
    }
    expect(orders.size).toBe(5);
  });

  it('gives the same task for an index whatever was asked before, and other orders by seed', async () => {
    const [one, other] = [inEpochs(words(9), 1), inEpochs(words(9), 2)];
    const forward = await ids(one, 0, 45);
    const backward = [];
    for (let i = 44; i >= 0; i--) backward.unshift((await one.task('train', i)).id);
    expect(backward).toEqual(forward);
    expect(await ids(other, 0, 45)).not.toEqual(forward);
  });

  it('leaves held-out tasks as they are, and refuses a split without tasks', async () => {
    const taskSet = inEpochs(words(3), 1);
    expect(taskSet.size('heldOut')).toBe(3);
    await expect(taskSet.task('heldOut', 3)).rejects.toThrow(RangeError);
    await expect(inEpochs(words(0), 1).task('train', 0)).rejects.toThrow(DataError);
  });
});
