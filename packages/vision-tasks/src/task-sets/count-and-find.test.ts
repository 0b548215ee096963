import type { Box, Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { type CountAndFindFacts, countAndFind } from './count-and-find.ts';
import { isInside, tasksOf } from './families.fixture.ts';

const tasks = await tasksOf(countAndFind, 12);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = (task: Task) => task.metadata as unknown as CountAndFindFacts;
const centerOf = ([left, top, right, bottom]: Box) => [(left + right) / 2, (top + bottom) / 2];

/** The answer from the boxes alone, apart from the code that asks. */
function recompute({ program, items, signs }: CountAndFindFacts): string {
  const only = items.filter(({ name }) => name === program.of);
  const [pivotX = 0, pivotY = 0] = centerOf(only[0]?.box ?? [0, 0, 0, 0]);
  const distance = ({ box }: { readonly box: Box }) => {
    const [x = 0, y = 0] = centerOf(box);
    return Math.hypot(x - pivotX, y - pivotY);
  };
  const ofKind = items.filter(({ name }) => name === program.kind);
  switch (program.operation) {
    case 'count':
      return String(ofKind.length);
    case 'count-side':
      return String(
        ofKind.filter(({ box }) => {
          const [x = 0, y = 0] = centerOf(box);
          if (program.side === 'left of') return x < pivotX;
          if (program.side === 'right of') return x > pivotX;
          return program.side === 'above' ? y < pivotY : y > pivotY;
        }).length,
      );
    case 'nearest': {
      const others = items.filter((item) => item !== only[0]);
      return others.sort((a, b) => distance(a) - distance(b))[0]?.name ?? '';
    }
    case 'sign':
      return [...signs].sort((a, b) => distance(a) - distance(b))[0]?.text ?? '';
  }
}

describe('count-and-find', () => {
  for (const { name, check } of taskSetContract) it(name, () => check(countAndFind), 120_000);

  it('answers as its program says, from the boxes', () => {
    for (const task of all) expect(recompute(factsOf(task)), task.question).toBe(task.answer);
  });

  it('calls a kind the only one where there is one', () => {
    for (const { items, program } of all.map(factsOf)) {
      if (program.of === undefined) continue;
      expect(items.filter(({ name }) => name === program.of)).toHaveLength(1);
    }
  });

  it('shows no kind and no photograph of the held-out split in train', () => {
    const seen = (some: readonly Task[]) =>
      new Set(
        some
          .map(factsOf)
          .flatMap(({ items, photograph }) => [photograph, ...items.map(({ name }) => name)]),
      );
    const held = seen(tasks.heldOut);
    expect([...seen(tasks.train)].filter((part) => held.has(part))).toEqual([]);
  });

  it('keeps every box inside the image, and the evidence in the box around it', () => {
    for (const task of all) {
      const { box, evidence, items } = factsOf(task);
      const [image] = task.images;
      for (const each of evidence) expect(isInside(each.box, box, image)).toBe(true);
      const whole: Box = [0, 0, image?.width ?? 0, image?.height ?? 0];
      for (const each of items) expect(isInside(each.box, whole, image)).toBe(true);
    }
  });

  it('shows signs on less than half a percent of the image', () => {
    const signs = all.flatMap((task) =>
      factsOf(task).signs.map(({ box: [left, top, right, bottom] }) => {
        const { width = 1, height = 1 } = task.images[0] ?? {};
        return ((right - left) * (bottom - top)) / (width * height);
      }),
    );
    expect(signs.length).toBeGreaterThan(0);
    expect(Math.max(...signs)).toBeLessThan(0.005);
  });
});
