import type { Box, Task, TaskImage } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { isInside, pixelsOf, tasksOf } from './families.fixture.ts';
import { type DifferenceFacts, spotTheDifference } from './spot-the-difference.ts';

const tasks = await tasksOf(spotTheDifference, 10);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = (task: Task) => task.metadata as unknown as DifferenceFacts;

/** The pixels in which two images differ. */
async function differences(a: TaskImage, b: TaskImage): Promise<readonly (readonly number[])[]> {
  const [one, other] = await Promise.all([pixelsOf(a), pixelsOf(b)]);
  const found: number[][] = [];
  for (let at = 0; at < one.length; at += 3) {
    if (one.compare(other, at, at + 3, at, at + 3) === 0) continue;
    found.push([(at / 3) % a.width, Math.floor(at / 3 / a.width)]);
  }
  return found;
}

/** Edges are blended over two pixels at most. */
const holds = ([left, top, right, bottom]: Box, [x = 0, y = 0]: readonly number[]) =>
  x >= left - 2 && x < right + 2 && y >= top - 2 && y < bottom + 2;

/** The two images that differ. */
function pairOf(task: Task): readonly [TaskImage, TaskImage] {
  const numbers = factsOf(task).evidence.map(({ image }) => image);
  const odd = Number(task.answer) - 1;
  const isOdd = factsOf(task).program.operation === 'odd';
  const changed = isOdd ? odd : 1;
  const original = changed === 0 ? 1 : 0;
  const [a, b] = [task.images[original], task.images[changed]];
  if (a === undefined || b === undefined) throw new Error(`${task.id} has too few images.`);
  expect([a.name, b.name]).toEqual(expect.arrayContaining([...new Set(numbers)]));
  return [a, b];
}

describe('spot-the-difference', () => {
  for (const { name, check } of taskSetContract) it(name, () => check(spotTheDifference), 120_000);

  it('changes the pixels of every change, and none beside them', async () => {
    for (const task of all) {
      const found = await differences(...pairOf(task));
      const boxes = factsOf(task).evidence.map(({ box }) => box);
      expect(found.filter((pixel) => !boxes.some((box) => holds(box, pixel)))).toEqual([]);
      for (const { before } of factsOf(task).changes) {
        const within = found.filter((pixel) => holds(before, pixel)).length;
        const area = (before[2] - before[0]) * (before[3] - before[1]);
        expect(within / area, JSON.stringify(factsOf(task).changes)).toBeGreaterThan(0.1);
      }
    }
  }, 120_000);

  it('answers as its changes say', () => {
    for (const task of all) {
      const { changes, program } = factsOf(task);
      const [only] = changes;
      if (program.operation === 'count') expect(task.answer).toBe(String(changes.length));
      else if (program.operation === 'count-kind') {
        const some = changes.filter(({ kind }) => kind === program.kind);
        expect(task.answer).toBe(String(some.length));
      } else expect(changes).toHaveLength(1);
      if (program.operation === 'name') {
        expect(task.answer).toBe(only?.name);
        expect(task.question).toMatch(new RegExp(`\\b${only?.name}\\b.*\\?`));
      }
      if (program.operation === 'kind') expect(task.answer).toBe(only?.kind);
      if (program.operation === 'cell') {
        const { width = 1, height = 1 } = task.images[0] ?? {};
        for (const [left, top, right, bottom] of [
          only?.before,
          only?.after ?? only?.before,
        ].flatMap((box) => (box === undefined ? [] : [box]))) {
          const row = 'ABC'[Math.floor(((top + bottom) / 2 / height) * 3)];
          const column = Math.floor(((left + right) / 2 / width) * 3) + 1;
          expect(task.answer).toBe(`${row}${column}`);
        }
      }
    }
  });

  it('repeats the images that are not the odd one', async () => {
    const trios = all.filter(({ images }) => images.length === 3);
    for (const task of trios) {
      const odd = Number(task.answer) - 1;
      const [one, other] = task.images.filter((_, index) => index !== odd);
      if (one === undefined || other === undefined) throw new Error('An image is missing.');
      expect(await differences(one, other)).toEqual([]);
    }
  });

  it('keeps every box inside its image', () => {
    for (const task of all) {
      const { box, evidence } = factsOf(task);
      for (const each of evidence) expect(isInside(each.box, box, task.images[0])).toBe(true);
    }
  });

  it('shows no kind of the held-out split in train', () => {
    const seen = (some: readonly Task[]) =>
      new Set(
        some.map(factsOf).flatMap(({ changes, source }) => [source, ...changes.map((c) => c.name)]),
      );
    const held = seen(tasks.heldOut);
    expect([...seen(tasks.train)].filter((part) => held.has(part))).toEqual([]);
  });

  it('makes only the changes that the settings allow', async () => {
    const task = await spotTheDifference.with({ changes: ['removed'] }).task('train', 0);
    for (const { kind } of factsOf(task).changes) expect(kind).toBe('removed');
    expect(() => spotTheDifference.with({ changes: ['painted'] })).toThrow(/painted/);
  });
});
