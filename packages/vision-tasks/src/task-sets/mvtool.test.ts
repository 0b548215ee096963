import { ConfigError, randomAt } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { fiveTurns } from '../orientation/pose.ts';
import {
  askSmallPrint,
  drawLetterCount,
  type PrintOperation,
  type PrintProgram,
  printOperations,
} from '../small-print/ask-small-print.ts';
import { type Broadsheet, drawBroadsheet } from '../small-print/broadsheet.ts';
import { drawsAlike, isInside, remembered } from './families.fixture.ts';
import { type MvtoolFacts, mvtool } from './mvtool.ts';

const splits: readonly Split[] = ['train', 'heldOut'];
const operations = Object.keys(printOperations) as PrintOperation[];
const factsOf = ({ metadata }: Task) => metadata as unknown as MvtoolFacts;
/** Fast to draw; the full size is tested by itself. */
const small = mvtool.with({ width: 1600, largestShare: 0.002, hardest: 1 });
const known = remembered(small);

/** The answer from all that is printed, apart from the code that asks. */
function recompute(
  sheet: Broadsheet,
  { operation, quoted, letter, measure }: PrintProgram,
): string[] {
  const lines = sheet.paragraphs.flatMap((paragraph) => paragraph.lines.map(({ text }) => text));
  const paragraphs = sheet.paragraphs.map((one) => one.lines.map(({ text }) => text).join(' '));
  const count = (text: string) =>
    String([...text].filter((each) => each.toLowerCase() === letter).length);
  const escaped = quoted.replaceAll(/[^A-Za-z0-9 ]/g, '.');
  switch (operation) {
    case 'next-word':
      return lines.flatMap((line) => {
        const found = new RegExp(`(?:^| )\\W*${escaped} (\\W*)([A-Za-z]+)`).exec(line)?.[2];
        return found === undefined ? [] : [found];
      });
    case 'line-text':
      return lines.filter((line) => new RegExp(`^${escaped}( |$)`).test(line));
    case 'line-letters':
      return lines.filter((line) => new RegExp(`^${escaped}( |$)`).test(line)).map(count);
    case 'paragraph-letters':
      return paragraphs
        .filter((text) => new RegExp(`(^| )\\W*${escaped}\\W*$`).test(text))
        .map(count);
    case 'paragraph-fact':
      return paragraphs.flatMap((text) => {
        const found = new RegExp(`^${escaped}: .*${measure} ([\\d.]+\\d)`).exec(text)?.[1];
        return found === undefined ? [] : [found];
      });
  }
}

describe('mvtool', () => {
  it('gives the same task for the same index', () => drawsAlike(small, 3), 60_000);
  // Its first check draws 24 tasks, which the one above does for two.
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 120_000);

  it('answers as one who reads the whole sheet does, with one text that a question can mean', async () => {
    for (const split of splits) {
      for (let trial = 0; trial < 1; trial++) {
        const random = randomAt(trial, 'mvtool-test', split);
        const plan = { width: 1600, height: 1200, typeSize: 10, blocks: 18 };
        const sheet = await drawBroadsheet(split, plan, random);
        for (const operation of operations) {
          let asked = 0;
          for (let tries = 0; tries < 300 && asked < 20; tries++) {
            const letterCount = drawLetterCount(random);
            const made = askSmallPrint(sheet, operation, { largestShare: 1, letterCount }, random);
            if (made === undefined) continue;
            asked++;
            expect(recompute(sheet, made.program), made.question).toEqual([made.answer]);
          }
          expect(asked, operation).toBeGreaterThan(3);
        }
      }
    }
  });

  it('asks about a ten-thousandth of a sheet at most, and the turn undone shows it there', async () => {
    for (const [split, index] of [['heldOut', 7]] as const) {
      const task = await mvtool.with({ hardest: 1 }).task(split, index);
      const { box, boxInImage = box, share, orientation, requiredTools, turn } = factsOf(task);
      const [image] = task.images;
      const { width = 0, height = 0 } = image ?? {};
      expect(share).toBeLessThanOrEqual(0.0001);
      const area = (box[2] - box[0]) * (box[3] - box[1]);
      expect(area / (width * height)).toBeCloseTo(share, 12);
      expect(isInside(boxInImage, [0, 0, width, height], image)).toBe(true);
      expect(fiveTurns).toContain(orientation);
      expect(requiredTools).toEqual([turn, 'crop']);
      const [left, top, right, bottom] = boxInImage;
      const region = { left, top, width: right - left, height: bottom - top };
      const { channels } = await sharp(image?.png).extract(region).stats();
      expect(channels[0]?.stdev, task.question).toBeGreaterThan(20);
    }
  });

  it('turns each kind of question each way as often, and names no place', async () => {
    const count = fiveTurns.length * operations.length;
    const tasks = await Promise.all(
      Array.from({ length: count }, (_, index) => known.task('heldOut', index)),
    );
    const seen = tasks.map((task) => `${factsOf(task).program.operation} ${factsOf(task).turn}`);
    expect(new Set(seen).size).toBe(count);
    for (const { question } of tasks) {
      expect(question.replaceAll(/“[^”]*”/g, '')).not.toMatch(
        /\b(left|right(?! after)|above|below|top|bottom|corner|middle|upper|lower)\b/,
      );
    }
  }, 120_000);

  it('refuses settings that no print is small enough for', async () => {
    const impossible = mvtool.with({ width: 1600, typeSize: 40, largestShare: 0.00001 });
    await expect(impossible.task('train', 0)).rejects.toThrow(ConfigError);
    expect(() => mvtool.with({ operations: ['smell'] })).toThrow(/next-word/);
  });
});
