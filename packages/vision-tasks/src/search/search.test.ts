import { randomAt } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { glyphsOf } from '../rendering/glyphs.ts';
import { pictogramsOf } from '../scenes/pictograms.ts';
import { drawsAlike, isInside, remembered } from '../task-sets/families.fixture.ts';
import { search4k } from '../task-sets/search-4k.ts';
import { search8k } from '../task-sets/search-8k.ts';
import { askWall, wallOperations } from './ask-wall.ts';
import type { SearchFacts } from './define-search.ts';
import { diskOf, inks, LABEL_SIZE } from './stickers.ts';

const factsOf = ({ metadata }: Task) => metadata as unknown as SearchFacts;
/** Fast to draw; the full size is tested by itself. */
const small = search4k.with({ width: 1280, hardest: 1 });
const known = remembered(small);
const splits: readonly Split[] = ['train', 'heldOut'];
const sampled = await Promise.all(
  splits.flatMap((split) => Array.from({ length: 6 }, (_, index) => known.task(split, index))),
);

/** The answer from the stickers alone, apart from the code that asks. */
function recompute({ stickers, program }: SearchFacts): string {
  const named = (name: string | undefined) => stickers.filter((sticker) => sticker.name === name);
  const [one, ...more] = named(program.of);
  if (one === undefined || more.length > 0) return 'not the only one';
  if (program.operation !== 'relation') return one[program.operation];
  const [other, ...others] = named(program.kind);
  if (other === undefined || others.length > 0) return 'not the only one';
  const middle = (box: SearchFacts['box'], axis: 0 | 1) => box[axis] + (box[axis + 2] ?? 0);
  const [x, y] = [0, 1].map(
    (axis) => middle(other.box, axis as 0 | 1) - middle(one.box, axis as 0 | 1),
  ) as [number, number];
  return `${y < 0 ? 'upper' : 'lower'} ${x < 0 ? 'left' : 'right'}`;
}

describe('search', () => {
  it('gives the same task for the same index', () => drawsAlike(small, 3), 60_000);
  // Its first check draws 24 tasks, which the one above does for two.
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 120_000);

  it('answers as its program says, from the stickers', () => {
    for (const task of sampled) expect(recompute(factsOf(task)), task.question).toBe(task.answer);
  });

  it('keeps stickers inside the wall and apart, and shows no kind of one split in the other', () => {
    const kinds = new Map<string, Set<string>>();
    for (const task of sampled) {
      const { stickers } = factsOf(task);
      const [image] = task.images;
      const whole = [0, 0, image?.width ?? 0, image?.height ?? 0] as const;
      for (const [index, { box, name }] of stickers.entries()) {
        expect(isInside(box, whole, image)).toBe(true);
        const split = task.id.includes('train') ? 'train' : 'heldOut';
        kinds.set(split, (kinds.get(split) ?? new Set()).add(name));
        for (const other of stickers.slice(index + 1)) {
          const isApart =
            box[2] <= other.box[0] ||
            other.box[2] <= box[0] ||
            box[3] <= other.box[1] ||
            other.box[3] <= box[1];
          if (!isApart) throw new Error(`${task.id}: ${box} and ${other.box} overlap.`);
        }
      }
    }
    expect(
      [...(kinds.get('train') ?? [])].filter((kind) => kinds.get('heldOut')?.has(kind)),
    ).toEqual([]);
  });

  it('asks about a ten-thousandth of the wall at most, among 200 to 800 stickers, at both sizes', async () => {
    const glyphs = await glyphsOf('lora', 700, LABEL_SIZE);
    for (const [width, most] of [
      [3840, 28],
      [7680, 40],
    ] as const) {
      const height = (width * 9) / 16;
      for (let trial = 0; trial < 30; trial++) {
        const random = randomAt(trial, 'search-test', width);
        const plan = {
          width,
          height,
          count: 200 + random.integer(601),
          sizes: [20, most] as const,
        };
        const operation = wallOperations[trial % 3] ?? 'color';
        const kinds = pictogramsOf(trial % 2 === 0 ? 'train' : 'heldOut');
        const asked = askWall(kinds, plan, operation, glyphs, random);
        if (asked === undefined) continue;
        expect(asked.stickers).toHaveLength(plan.count);
        for (const { box } of asked.evidence) {
          const area = (box[2] - box[0]) * (box[3] - box[1]);
          expect(area / (width * height)).toBeLessThanOrEqual(0.0001);
          const image = { name: '', png: new Uint8Array(), width, height };
          expect(isInside(box, [0, 0, width, height], image)).toBe(true);
        }
        const sides = asked.stickers.map((sticker) => diskOf(sticker)[2] - diskOf(sticker)[0]);
        expect(Math.min(...sides)).toBeGreaterThanOrEqual(20);
        expect(Math.max(...sides)).toBeLessThanOrEqual(most);
      }
    }
  });

  it('draws the sticker in its color where it says, at full size', async () => {
    const task = await search4k.with({ hardest: 1, operations: ['color'] }).task('heldOut', 2);
    const { stickers, evidence, share } = factsOf(task);
    expect(share).toBeLessThanOrEqual(0.0001);
    expect(task.images[0]).toMatchObject({ width: 3840, height: 2160 });
    const { data, info } = await sharp(task.images[0]?.png)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    for (const { box, color } of [
      ...stickers.slice(0, 30),
      { box: evidence[0]?.box ?? [0, 0, 1, 1], color: task.answer as keyof typeof inks },
    ]) {
      const [left, top, right, bottom] = box;
      const rows = Array.from({ length: bottom - top }, (_, row) => {
        const start = (top + row) * info.width;
        return data.subarray((start + left) * 3, (start + right) * 3);
      });
      expect(nearestInk(Buffer.concat(rows)), `${color} at ${box}`).toBe(color);
    }
  });

  it('gives the colors and the quadrants equally often', async () => {
    const glyphs = await glyphsOf('roboto', 700, LABEL_SIZE);
    const answers = new Map<string, number>();
    for (let trial = 0; trial < 300; trial++) {
      const random = randomAt(trial, 'search-answers');
      const plan = { width: 1280, height: 720, count: 200, sizes: [20, 28] as const };
      const operation = trial % 2 === 0 ? 'color' : 'relation';
      const asked = askWall(pictogramsOf('train'), plan, operation, glyphs, random);
      if (asked !== undefined) answers.set(asked.answer, (answers.get(asked.answer) ?? 0) + 1);
    }
    for (const color of Object.keys(inks)) {
      // Four standard deviations of a sixth of 150.
      expect(Math.abs((answers.get(color) ?? 0) - 25), color).toBeLessThan(19);
    }
  });

  it('refuses a wall without room', async () => {
    await expect(search4k.with({ width: 1280, easiest: 3 }).task('train', 0)).rejects.toThrow(
      /taskSet.width/,
    );
    expect(search8k.size('train')).toBe(1_000_000);
  });
});

/** The ink whose hue the colored pixels are nearest to; black where few have a color. */
function nearestInk(pixels: Buffer): string {
  const votes = new Map<string, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    const spread = Math.max(red, green, blue) - Math.min(red, green, blue);
    const isDark = Math.max(red, green, blue) < 100;
    if (spread < 70 && !isDark) continue;
    const near = Object.entries(inks)
      .map(([name, ink]) => {
        const far = Math.hypot(ink[0] - red, ink[1] - green, ink[2] - blue);
        return { name, far };
      })
      .sort((a, b) => a.far - b.far)[0]?.name;
    if (near !== undefined) votes.set(near, (votes.get(near) ?? 0) + 1);
  }
  return [...votes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'none';
}
