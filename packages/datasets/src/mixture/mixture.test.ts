import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, type RunEvent } from '@saccade/core';
import type { TaskSet } from '@saccade/gym';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { dHash, hammingDistance, pixelHash } from '../images/image-hash.ts';
import { image, temporaryFolder } from '../samples.fixture.ts';
import { mixture } from '../task-sets/mixture.ts';
import { Interleave, type Share, temperatureWeights } from './interleave.ts';
import { Permutation, RowOrder } from './permutation.ts';
import { RowSet } from './row-set.ts';

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

describe('an order of rows', () => {
  it('has each row once, for any size and seed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.nat(), (size, seed) => {
        const permutation = new Permutation(size, seed);
        expect(new Set(range(size).map((i) => permutation.at(i))).size).toBe(size);
      }),
      { numRuns: 40 },
    );
  });

  it('has each row once in blocks and windows, and reads few blocks at a time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.integer({ min: 1, max: 70 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        (rowCount, blockRows, windowBlocks, seed) => {
          const order = new RowOrder({ rowCount, blockRows, windowBlocks }, seed, 'test');
          const rows = range(rowCount).map((i) => order.at(i));
          expect(new Set(rows).size).toBe(rowCount);
          const window = blockRows * windowBlocks;
          for (let start = 0; start < rowCount; start += window) {
            const blocks = rows
              .slice(start, start + window)
              .map((row) => Math.floor(row / blockRows));
            expect(new Set(blocks).size).toBeLessThanOrEqual(windowBlocks + 1);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('differs by seed, and is the same in another process', () => {
    const at = (seed: number) => range(8).map((i) => new Permutation(1e12, seed, 'a').at(i));
    expect(at(1)).toEqual(at(1));
    expect(at(1)).not.toEqual(at(2));
    expect(Math.max(...at(1))).toBeGreaterThan(1e10);
  });

  it('is spread as a draw at random is', () => {
    // Of a random permutation the mean of |i − π(i)| is (n² − 1) / 3n.
    const size = 20_000;
    const permutation = new Permutation(size, 5);
    const mean = range(size).reduce((sum, i) => sum + Math.abs(i - permutation.at(i)), 0) / size;
    expect(Math.abs(mean / (size / 3) - 1)).toBeLessThan(0.02);
  });
});

describe('a set of rows', () => {
  it('finds its k-th member as a sorted list does', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 4999 })), (members) => {
        const set = new RowSet(5000);
        for (const row of members) set.add(row);
        const sorted = [...members].sort((a, b) => a - b);
        expect(set.count).toBe(sorted.length);
        expect(sorted.map((_, k) => set.at(k))).toEqual(sorted);
      }),
    );
  });
});

describe('an interleaving', () => {
  const shares = fc.array(
    fc.record({
      weight: fc.double({ min: 0.001, max: 100, noNaN: true }),
      length: fc.integer({ min: 1, max: 900 }),
    }),
    { minLength: 1, maxLength: 6 },
  );

  it('gives each row of each source once, in order, and ends when all have ended', () => {
    fc.assert(
      fc.property(shares, (given) => {
        const interleave = new Interleave(given);
        const seen = given.map(() => 0);
        expect(interleave.size).toBe(given.reduce((sum, { length }) => sum + length, 0));
        for (let index = 0; index < interleave.size; index++) {
          const { source, occurrence } = interleave.at(index);
          expect(occurrence).toBe(seen[source]);
          seen[source] = (seen[source] ?? 0) + 1;
        }
        expect(seen).toEqual(given.map(({ length }) => length));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the shares of sources that do not end, near every place', () => {
    const endless: readonly Share[] = [5, 3, 2].map((weight) => {
      return { weight, length: Number.POSITIVE_INFINITY };
    });
    const interleave = new Interleave(endless);
    for (const start of [0, 1e6, 1e12]) {
      const counts = [0, 0, 0];
      for (let i = 0; i < 100; i++) {
        const { source } = interleave.at(start + i);
        counts[source] = (counts[source] ?? 0) + 1;
      }
      [50, 30, 20].forEach((expected, i) => {
        expect(Math.abs((counts[i] ?? 0) - expected)).toBeLessThanOrEqual(2);
      });
    }
  });

  it('takes shares from sizes by a temperature', () => {
    // n^(1/T) of 1, 10, 100: at T = 1 as they are, at T = 2 their roots, at T → ∞ equal.
    const shareOf = (temperature: number) => {
      const weights = temperatureWeights([1, 10, 100], temperature);
      const sum = weights.reduce((a, b) => a + b, 0);
      return weights.map((weight) => weight / sum);
    };
    expect(shareOf(1)[2]).toBeCloseTo(100 / 111, 10);
    expect(shareOf(2)[1]).toBeCloseTo(Math.sqrt(10) / (1 + Math.sqrt(10) + 10), 10);
    expect(shareOf(1e6)[0]).toBeCloseTo(1 / 3, 4);
  });

  it('refuses sources of which none has rows', () => {
    expect(() => new Interleave([{ weight: 1, length: 0 }])).toThrow(ConfigError);
  });
});

describe('hashes of images', () => {
  it('see the same image in another size, format and brightness, and another one apart', async () => {
    // Areas of light and dark, as photographs have them: hashes of noise say nothing.
    const gray = Buffer.from(range(24).map((i) => (i * 89) % 230));
    const base = await sharp(gray, { raw: { width: 6, height: 4, channels: 1 } })
      .resize(240, 160, { fit: 'fill', kernel: 'cubic' })
      .png()
      .toBuffer();
    const near = await Promise.all([
      sharp(base).resize(120, 80).png().toBuffer(),
      sharp(base).jpeg({ quality: 60 }).toBuffer(),
      sharp(base).modulate({ brightness: 1.1 }).png().toBuffer(),
    ]);
    const hash = await dHash(base);
    for (const one of near) expect(hammingDistance(hash, await dHash(one))).toBeLessThanOrEqual(6);
    const mirrored = await dHash(await sharp(base).flop().png().toBuffer());
    expect(hammingDistance(hash, mirrored)).toBeGreaterThan(16);
  });

  it('of pixels are the same for every lossless encoding', async () => {
    const webp = await sharp(await image(3))
      .webp({ lossless: true })
      .toBuffer();
    expect(await pixelHash(webp)).toBe(await pixelHash(await image(3)));
    expect(await pixelHash(await image(4))).not.toBe(await pixelHash(await image(3)));
  });
});

describe('mixture', () => {
  /** A folder of rows with images by number, in JSON Lines. */
  async function folderOf(
    numbers: readonly number[],
    split = 'train',
    answer = 'a',
  ): Promise<string> {
    const folder = await temporaryFolder();
    await addRows(folder, numbers, split, answer);
    return folder;
  }

  async function addRows(
    folder: string,
    numbers: readonly number[],
    split: string,
    answer: string,
  ) {
    const lines: string[] = [];
    for (const number of numbers) {
      const name = `${split}-${number}.png`;
      await writeFile(join(folder, name), await image(number, 'png', 96, 64));
      const row = { question: `q ${number}?`, answer, images: [name], metadata: { number } };
      lines.push(`${JSON.stringify(row)}\n`);
    }
    await writeFile(join(folder, `${split}.jsonl`), lines.join(''));
  }

  async function open(
    settings: Parameters<typeof mixture.with>[0],
    onEvent?: (event: RunEvent) => void,
  ) {
    const unit = mixture.with(settings);
    return (await unit.open?.({ ...(onEvent && { onEvent }) } as never)) as TaskSet;
  }

  const sourcesIn = async (taskSet: TaskSet, count: number) => {
    const counts: Record<string, number> = {};
    for (let i = 0; i < count; i++) {
      const name = String((await taskSet.task('train', i)).metadata.source);
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  };

  it('draws sources by weights, caps and epochs, and goes on at any index', async () => {
    const [a, b] = [await folderOf(range(10)), await folderOf(range(30))];
    const settings = {
      sources: [
        `${a};source=a;weight=1;heldOutShare=0`,
        { from: b, source: 'b', weight: 3, cap: 12, heldOutShare: 0 },
      ],
      seed: 4,
      epochs: 2,
    };
    const taskSet = await open(settings);
    expect(taskSet.size('train')).toBe(2 * (10 + 12));
    expect(await sourcesIn(taskSet, 16)).toEqual({ a: 4, b: 12 });
    const ids = await Promise.all(range(44).map(async (i) => (await taskSet.task('train', i)).id));
    expect(new Set(ids).size).toBe(44);
    await taskSet.dispose?.();
    const again = await open(settings);
    expect((await again.task('train', 31)).id).toBe(ids[31]);
    expect(again.facts?.()).toMatchObject([{ name: 'a' }, { name: 'b', trainRows: 12 }]);
    await again.dispose?.();
  });

  it('draws sources by a temperature', async () => {
    const [a, b] = [await folderOf(range(4)), await folderOf(range(64))];
    const sources = [`${a};source=a;heldOutShare=0`, `${b};source=b;heldOutShare=0`];
    const counts = async (temperature: number) => {
      const taskSet = await open({ sources, temperature });
      const found = await sourcesIn(taskSet, 85);
      await taskSet.dispose?.();
      return found;
    };
    expect(await counts(1)).toEqual({ a: 5, b: 80 });
    // 4^½ : 64^½ = 2 : 8
    expect(await counts(2)).toEqual({ a: 17, b: 68 });
  });

  it('leaves out rows that repeat others and rows with held-out images', async () => {
    const a = await folderOf([1, 2, 3]);
    await addRows(a, [50, 51], 'test', 'x');
    // 3 again, and the image of held-out 50 under another question.
    const b = await folderOf([3, 4, 50]);
    await addRows(b, [60], 'test', 'x');
    const warnings: string[] = [];
    const taskSet = await open(
      { sources: [`${a};source=a`, `${b};source=b`], duplicates: 'exact', epochs: 1 },
      (event) => event.kind === 'warning' && warnings.push(event.message),
    );
    expect(taskSet.size('train')).toBe(4);
    expect(warnings).toEqual([
      'b: 1 rows that repeat others and 1 with held-out images are left out of training.',
    ]);
    expect((await taskSet.task('heldOut', 1)).metadata.source).toBe('b');
    await taskSet.dispose?.();
  });

  it('refuses settings that do not go together, by their field', async () => {
    const a = await folderOf([1]);
    expect(() => mixture.with({ sources: [`${a};weight=1`, a] })).toThrow(/sources\[1\]\.weight/);
    expect(() => mixture.with({ sources: [`${a};wieght=1`] })).toThrow(/sources\[0\]\.wieght/);
    expect(() => mixture.with({ sources: [`${a};cap=x`] })).toThrow(
      /sources\[0\]\.cap: expected an integer/,
    );
    expect(() => mixture.with({ sources: [] })).toThrow(ConfigError);
    await expect(open({ sources: [`${a};heldOutShare=0`, `${a};heldOutShare=0`] })).rejects.toThrow(
      /two sources are called saccade/,
    );
    await expect(mixture.with({ sources: [a] }).task('train', 0)).rejects.toThrow(/are not open/);
  });
});
