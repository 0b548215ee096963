import { ConfigError } from '@saccade/core';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { DIGIT_SIZE } from '../mnist.ts';
import type { Task, TaskSet } from '../task.ts';
import type { Box } from './draw-needle.ts';
import { gradedNeedle } from './graded-needle.ts';
import { needle } from './needle.ts';
import { composeTurn, type TurnTool, turnBox, turnTools } from './turn.ts';
import { type TurnedNeedleFacts, turnedNeedle, turnedNeedleWith } from './turned-needle.ts';

const factsOf = ({ metadata }: Task) => metadata as unknown as TurnedNeedleFacts;
const pngOf = ({ images }: Task) => images[0]?.png ?? new Uint8Array();

/** Each tool in sharp, which turns clockwise; `flip` is upside down, `flop` left to right. */
const bySharp: Readonly<Record<TurnTool, (image: Sharp) => Sharp>> = {
  rotate_90: (image) => image.rotate(270),
  rotate_180: (image) => image.rotate(180),
  rotate_270: (image) => image.rotate(90),
  flip_horizontal: (image) => image.flop(),
  flip_vertical: (image) => image.flip(),
};

async function tasksOf(count: number, taskSet: TaskSet = turnedNeedle): Promise<readonly Task[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => taskSet.task('train', i)));
}

describe('turned-needle', () => {
  it('is the table of needle again after the required turn, whichever it is', async () => {
    const tasks = await tasksOf(40, turnedNeedleWith({ turnedShare: 1 }));
    const seen = new Set<string>();
    for (const [index, task] of tasks.entries()) {
      const { turn, requiredTools, difficulty } = factsOf(task);
      if (turn === undefined || seen.has(turn)) continue;
      seen.add(turn);
      expect([difficulty, ...requiredTools]).toEqual(['turned', turn, 'crop']);
      const upright = pngOf(await needle.task('train', index));
      const turned = await bySharp[turn](sharp(pngOf(task)))
        .raw()
        .toBuffer();
      expect(turned.equals(await sharp(upright).raw().toBuffer())).toBe(true);
    }
    expect([...seen].sort()).toEqual([...turnTools].sort());
  });

  it('maps its box to where the digit lies upright', async () => {
    const tasks = await tasksOf(8, turnedNeedleWith({ turnedShare: 1 }));
    for (const [index, task] of tasks.entries()) {
      const { box, toCanonical } = factsOf(task);
      const [a, b, c, d, e, f] = toCanonical;
      const upright = await needle.task('train', index);
      expect(box).toEqual(upright.metadata.box);
      const given = await sharp(pngOf(task)).raw().toBuffer();
      const table = await sharp(pngOf(upright)).raw().toBuffer();
      for (const [x, y] of [
        [3, 10],
        [447, 0],
        [201, 77],
      ] as const) {
        const toX = Math.floor(a * (x + 0.5) + b * (y + 0.5) + c);
        const toY = Math.floor(d * (x + 0.5) + e * (y + 0.5) + f);
        const at = (row: number, column: number) => (row * 448 + column) * 3;
        expect([...given.subarray(at(y, x), at(y, x) + 3)]).toEqual([
          ...table.subarray(at(toY, toX), at(toY, toX) + 3),
        ]);
      }
    }
  });

  it('turns three tables of five, each way as often, and prints half of the others large', async () => {
    const facts = (await tasksOf(160)).map(factsOf);
    const share = (difficulty: string) =>
      facts.filter((one) => one.difficulty === difficulty).length / facts.length;
    // Four standard deviations of a share of 160.
    expect(Math.abs(share('turned') - 0.6)).toBeLessThan(0.155);
    expect(Math.abs(share('easy') - 0.2)).toBeLessThan(0.127);
    for (const tool of turnTools) {
      const turned = facts.filter(({ turn }) => turn === tool).length / facts.length;
      expect(Math.abs(turned - 0.12), tool).toBeLessThan(0.103);
    }
    for (const { difficulty, requiredTools, needsSearch } of facts) {
      if (difficulty === 'turned') continue;
      expect(requiredTools).toEqual(difficulty === 'easy' ? [] : ['crop']);
      expect(needsSearch).toBe(difficulty === 'hard');
    }
  });

  it('refuses shares that are none', () => {
    expect(() => turnedNeedleWith({ easyShare: 2 })).toThrow(ConfigError);
    expect(() => turnedNeedleWith({ turnedShare: -1 })).toThrow(
      /turnedShare: expected a number in \[0, 1\]/,
    );
  });
});

describe('graded-needle', () => {
  it('shows the digit in the overview of easy tables, and only there', async () => {
    const tasks = await tasksOf(12, gradedNeedle);
    expect(new Set(tasks.map((task) => factsOf(task).difficulty))).toEqual(
      new Set(['easy', 'hard']),
    );
    for (const [index, task] of tasks.entries()) {
      const { print, difficulty, turn } = factsOf(task);
      expect(turn).toBeUndefined();
      if (difficulty === 'hard') {
        const table = pngOf(await needle.task('train', index));
        expect(Buffer.from(pngOf(task)).equals(Buffer.from(table))).toBe(true);
        continue;
      }
      const [left = 0, top = 0, right = 0, bottom = 0] = print ?? [];
      const cell = { left, top, width: right - left, height: bottom - top };
      const large = await sharp(pngOf(task)).extract(cell).toBuffer();
      const shown = await sharp(large).resize(DIGIT_SIZE, DIGIT_SIZE).raw().toBuffer();
      const [x = 0, y = 0] = factsOf(task).box;
      const look = { left: x, top: y, width: DIGIT_SIZE, height: DIGIT_SIZE };
      const card = await sharp(pngOf(task)).extract(look).raw().toBuffer();
      // Plain ink lowers red below the paper's 127; a card's ink parts red from blue either way.
      const printed = Array.from({ length: DIGIT_SIZE ** 2 }, (_, i) => 127 - (shown[3 * i] ?? 0));
      const inked = Array.from({ length: DIGIT_SIZE ** 2 }, (_, i) =>
        Math.abs((card[3 * i] ?? 0) - (card[3 * i + 2] ?? 0) - (card[0] ?? 0) + (card[2] ?? 0)),
      );
      expect(correlation(printed, inked)).toBeGreaterThan(0.9);
    }
  });
});

function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [ma, mb] = [mean(a), mean(b)];
  const sum = (f: (i: number) => number) => a.reduce((total, _, i) => total + f(i), 0);
  const da = (i: number) => (a[i] ?? 0) - ma;
  const db = (i: number) => (b[i] ?? 0) - mb;
  return sum((i) => da(i) * db(i)) / Math.sqrt(sum((i) => da(i) ** 2) * sum((i) => db(i) ** 2));
}

describe('turns', () => {
  const box: Box = [10, 20, 38, 48];

  it('put a box back by the tool that undoes one', () => {
    for (const tool of turnTools) {
      const back = composeTurn(undefined, tool);
      expect(back).toBe(tool);
      for (const other of turnTools) {
        const both = composeTurn(other, tool);
        if (both === 'other') continue;
        expect(turnBox(both, 448, box)).toEqual(turnBox(other, 448, turnBox(tool, 448, box)));
      }
    }
    expect(composeTurn('rotate_90', 'flip_horizontal')).toBe('other');
    expect(composeTurn('flip_vertical', 'flip_horizontal')).toBe('rotate_180');
  });
});
