import type { Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { coveredShare } from '../counting/crowd.ts';
import { type CountingFacts, counting } from './counting.ts';
import { drawsAlike, isInside, remembered, tasksOf } from './families.fixture.ts';

const known = remembered(counting);
const tasks = await tasksOf(known, 12);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = ({ metadata }: Task) => metadata as unknown as CountingFacts;

describe('counting', () => {
  it('gives the same task for the same index', () => drawsAlike(counting, 3), 60_000);
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 60_000);

  it('counts the boxes of the kinds that it asks about, with a point in each', () => {
    for (const task of all) {
      const { items, points, evidence, program } = factsOf(task);
      const counted = items.filter(({ name }) => program.kinds.includes(name));
      expect(String(counted.length), task.question).toBe(task.answer);
      expect(evidence).toEqual(counted);
      points.forEach(([x, y], index) => {
        const [left, top, right, bottom] = evidence[index]?.box ?? [0, 0, 0, 0];
        expect(x).toBeGreaterThanOrEqual(left);
        expect(x).toBeLessThan(right);
        expect(y).toBeGreaterThanOrEqual(top);
        expect(y).toBeLessThan(bottom);
      });
    }
  });

  it('keeps things inside the image, and most of each in sight', () => {
    for (const task of all) {
      const { items } = factsOf(task);
      const [image] = task.images;
      for (const [index, { box }] of items.entries()) {
        expect(isInside(box, [0, 0, image?.width ?? 0, image?.height ?? 0], image)).toBe(true);
        for (const other of items.slice(index + 1)) {
          // Whole pixels reach farther than the drawing.
          expect(coveredShare(box, other.box)).toBeLessThan(0.35);
        }
      }
    }
  });

  it('counts to 10 where it is easy and farther where it is hard', () => {
    for (const task of all) {
      const most = [10, 20, 40][factsOf(task).difficulty - 1] ?? 0;
      expect(Number(task.answer)).toBeGreaterThanOrEqual(2);
      expect(Number(task.answer)).toBeLessThanOrEqual(most);
    }
    expect(new Set(all.map(({ answer }) => answer)).size).toBeGreaterThan(8);
  });

  it('shows no kind and no photograph of the held-out split in train', () => {
    const seen = (some: readonly Task[]) =>
      new Set(
        some
          .map(factsOf)
          .flatMap((facts) => [facts.photograph, ...facts.items.map(({ name }) => name)]),
      );
    const held = seen(tasks.heldOut);
    expect([...seen(tasks.train)].filter((part) => held.has(part))).toEqual([]);
  });
});
