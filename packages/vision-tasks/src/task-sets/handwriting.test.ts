import { randomAt } from '@saccade/core';
import { DIGIT_SIZE, mnist, type Split, type Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { putNumber, writeNumber } from '../handwriting/written-number.ts';
import { Canvas } from '../rendering/canvas.ts';
import { handsOf, typefacesOf } from '../rendering/typefaces.ts';
import { drawsAlike, isInside, pixelsOf, remembered, tasksOf } from './families.fixture.ts';
import { type HandwritingFacts, handwriting } from './handwriting.ts';

const splits: readonly Split[] = ['train', 'heldOut'];
const known = remembered(handwriting);
const tasks = await tasksOf(known, 14);
const all = [...tasks.train, ...tasks.heldOut];
const factsOf = ({ metadata }: Task) => metadata as unknown as HandwritingFacts;

/** The answer from the rows and the question's own words, apart from the code that asks. */
function recompute(question: string, { rows }: HandwritingFacts): string {
  const rowOf = (item: string | undefined) => rows.filter((row) => row.item === item);
  const quoted = [...question.matchAll(/“(.+?)”/g)].map(([, item]) => rowOf(item));
  const [[one] = [], [other] = []] = quoted;
  if (quoted.some((found) => found.length !== 1)) return 'not one row';
  const amount = /amount (\d+)\?/.exec(question)?.[1];
  if (amount !== undefined) {
    return rows
      .filter((row) => String(row.amount) === amount)
      .map(({ item }) => item)
      .join('|');
  }
  if (one === undefined) return 'no row';
  if (question.includes('remark')) return one.remark;
  if (other === undefined) return String(one.amount);
  const isSum = question.includes('together');
  return String(one.amount + (isSum ? other.amount : -other.amount));
}

describe('handwriting', () => {
  it('gives the same task for the same index', () => drawsAlike(handwriting, 1), 60_000);
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 60_000);

  it('answers what the rows say', () => {
    for (const task of all)
      expect(recompute(task.question, factsOf(task)), task.id).toBe(task.answer);
    const asked = new Set(all.map((task) => factsOf(task).program.operation));
    expect(asked.size).toBe(5);
  });

  it('has ink in every box of the evidence, inside the page', async () => {
    for (const task of all.slice(0, 8)) {
      const [image] = task.images;
      const { width = 0, height = 0 } = image ?? {};
      const pixels = await pixelsOf(image as Task['images'][number]);
      for (const box of factsOf(task).evidence) {
        expect(isInside(box, factsOf(task).box, image)).toBe(true);
        expect(box[2] <= width && box[3] <= height).toBe(true);
        let [darkest, lightest] = [255, 0];
        for (let y = box[1]; y < box[3]; y++) {
          for (let x = box[0]; x < box[2]; x++) {
            const red = pixels[(y * width + x) * 3] ?? 0;
            darkest = Math.min(darkest, red);
            lightest = Math.max(lightest, red);
          }
        }
        expect(lightest - darkest, task.id).toBeGreaterThan(90);
      }
    }
  });

  it('writes the very pixels of the digits that their labels call so', () => {
    for (const split of splits) {
      const random = randomAt(5, 'handwriting-test', split);
      for (const text of ['4071', '99', '256', '38']) {
        const number = writeNumber(text, split, random);
        const page = new Canvas(number.width, DIGIT_SIZE, [0, 0, 0]);
        expect(putNumber(page, number, split, [0, 0], [255, 255, 255])).toEqual([
          ...[0, 0, number.width, DIGIT_SIZE],
        ]);
        expect(number.digits.map(({ index }) => mnist(split).label(index)).join('')).toBe(text);
        let left = 0;
        for (const { index, columns } of number.digits) {
          const source = mnist(split).pixels(index);
          for (let row = 0; row < DIGIT_SIZE; row++) {
            for (let column = columns[0]; column < columns[1]; column++) {
              const at = row * number.width + left + column - columns[0];
              expect(page.pixels[3 * at]).toBe(source[row * DIGIT_SIZE + column]);
            }
          }
          left += columns[1] - columns[0] + 1;
        }
      }
    }
  });

  it('shares no item, remark’s hand, typeface or digit between splits', () => {
    const items = (some: readonly Task[]) =>
      new Set(some.flatMap((task) => factsOf(task).rows.map(({ item }) => item)));
    const held = items(tasks.heldOut);
    expect([...items(tasks.train)].filter((item) => held.has(item))).toEqual([]);
    for (const faces of [handsOf, typefacesOf]) {
      expect(faces.train.filter((name) => faces.heldOut.includes(name))).toEqual([]);
    }
    // MNIST's own files: 60,000 digits of training and 10,000 of other writers.
    expect(splits.map((split) => mnist(split).count)).toEqual([60_000, 10_000]);
  });
});
