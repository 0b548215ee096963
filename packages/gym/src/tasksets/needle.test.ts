import { ConfigError } from '@saccade/core';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { DIGIT_SIZE, mnist } from '../mnist.ts';
import type { Split } from '../task.ts';
import type { Box } from './draw-needle.ts';
import { defaultNeedle, type NeedleFacts, needle, needleFacts, needleWith } from './needle.ts';

async function cropOf(png: Uint8Array, [left, top, right, bottom]: Box): Promise<Uint8Array> {
  const box = { left, top, width: right - left, height: bottom - top };
  return await sharp(png).extract(box).raw().toBuffer();
}

/** Ink of a look, 0 to 255: its hatching parts red from blue, the paper's texture moves both. */
function inkOf(look: Uint8Array): Uint8Array {
  const red = Array.from(
    { length: DIGIT_SIZE ** 2 },
    (_, i) => (look[i * 3] ?? 0) - (look[i * 3 + 2] ?? 0),
  );
  const paper = red[0] ?? 0;
  return Uint8Array.from(red, (value) => Math.round((255 * Math.abs(value - paper)) / 100));
}

const totals = new Map<Split, readonly number[]>();

/** The sum of each digit's ink: digits whose sums differ by much cannot be near. */
function totalsOf(split: Split): readonly number[] {
  const { count, pixels } = mnist(split);
  const made =
    totals.get(split) ?? Array.from({ length: count }, (_, index) => sumOf(pixels(index)));
  totals.set(split, made);
  return made;
}

function sumOf(values: Uint8Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** The digit of a split that lies nearest, and its mean distance per pixel. */
function nearest(ink: Uint8Array, split: Split): { label: number; distance: number } {
  const digits = mnist(split);
  const [all, total] = [totalsOf(split), sumOf(ink)];
  let best = { label: -1, distance: Number.POSITIVE_INFINITY };
  for (let index = 0; index < digits.count; index++) {
    if (Math.abs((all[index] as number) - total) >= best.distance * ink.length) continue;
    const pixels = digits.pixels(index);
    let sum = 0;
    for (let i = 0; i < ink.length; i++) {
      sum += Math.abs((ink[i] as number) - (pixels[i] as number));
      if (i % 56 === 0 && sum > best.distance * ink.length) break;
    }
    if (sum / ink.length < best.distance) {
      best = { label: digits.label(index), distance: sum / ink.length };
    }
  }
  return best;
}

const factsOf = (metadata: unknown): NeedleFacts => metadata as NeedleFacts;

describe('needle', () => {
  it.each(['train', 'heldOut'] as const)(
    'puts the answer of a %s task, and nothing else, at native size into its box',
    async (split) => {
      for (const index of [0, 1]) {
        const { images, answer, metadata } = await needle.task(split, index);
        const { box, decoys } = factsOf(metadata);
        const png = images[0]?.png ?? new Uint8Array();
        const shown = nearest(inkOf(await cropOf(png, box)), split);
        expect(String(shown.label)).toBe(answer);
        expect(shown.distance).toBeLessThan(1);
        for (const decoy of decoys) {
          const ink = inkOf(await cropOf(png, decoy));
          expect(nearest(ink, split).distance).toBeGreaterThan(5);
        }
      }
    },
  );

  it('lays cards in the middle of different cells, and the digit in any of them', async () => {
    const cells = new Set<string>();
    const counts = new Set<number>();
    for (let index = 0; index < 60; index++) {
      const { metadata } = await needle.task('train', index);
      const { box, decoys, places } = factsOf(metadata);
      expect(places).toHaveLength(16);
      const cards = [box, ...decoys];
      counts.add(cards.length);
      const known = places.map(String);
      cards.forEach((card, i) => {
        expect(known).toContain(String(card));
        expect(cards.findIndex((other) => String(other) === String(card))).toBe(i);
      });
      cells.add(String(box));
    }
    expect(cells.size).toBeGreaterThan(12);
    expect([...counts].sort()).toEqual([1, 2]);
  });

  it('lays cards out as the other split never does', () => {
    const layouts = (split: Split) =>
      Array.from({ length: 400 }, (_, index) => {
        const { box, decoys } = needleFacts(split, index);
        return [box, ...decoys].map(String).sort().join(' ');
      });
    const seen = new Set(layouts('train'));
    expect(seen.size).toBeGreaterThan(80);
    expect(layouts('heldOut').filter((layout) => seen.has(layout))).toEqual([]);
  });

  it('has layouts for both splits on the smallest tables, with any number of cards', () => {
    for (const cells of [2, 3]) {
      for (let cards = 1; cards < cells * cells; cards++) {
        const layouts = (split: Split) =>
          Array.from({ length: 40 }, (_, index) => {
            const { box, decoys } = needleFacts(split, index, { ...defaultNeedle, cells, cards });
            return [box, ...decoys].map(String).sort().join(' ');
          });
        const seen = new Set(layouts('train'));
        expect(layouts('heldOut').filter((layout) => seen.has(layout))).toEqual([]);
      }
    }
  });

  it('has other images in the splits, under other seeds and indices', async () => {
    const tasks = await Promise.all([
      needle.task('train', 7),
      needle.task('heldOut', 7),
      needle.task('train', 8),
      needleWith({ seed: 1 }).task('train', 7),
    ]);
    const encoded = tasks.map(({ images }) => Buffer.from(images[0]?.png ?? []).toString('hex'));
    expect(new Set(encoded).size).toBe(tasks.length);
  });

  it('asks for every digit', async () => {
    const tasks = await Promise.all(
      Array.from({ length: 100 }, (_, index) => needle.task('train', index)),
    );
    expect(new Set(tasks.map(({ answer }) => answer)).size).toBe(10);
  });

  it.each([
    [{ pitch: 50 }, /pitch: expected an integer in \[56, 1024\] \(pixels\), got 50/],
    [{ texture: 20 }, /texture: expected an integer in \[0, 15\]/],
    [{ pitch: 113 }, /pitch: expected an even number, got 113/],
    [{ cards: 0 }, /cards: expected an integer in \[1, 1023\]/],
    [{ cards: 16 }, /cards: expected 1 to 15 on 4×4 cells, got 16/],
  ])('refuses %o', (options, message) => {
    expect(() => needleWith(options)).toThrow(ConfigError);
    expect(() => needleWith(options)).toThrow(message);
  });
});
