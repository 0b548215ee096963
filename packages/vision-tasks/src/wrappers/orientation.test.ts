import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, DataError } from '@saccade/core';
import type { Task } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { orientationOf } from '../orientation/orientation-of.ts';
import { fiveTurns, poses, sixPoses } from '../orientation/pose.ts';
import type { PoseFacts } from '../orientation/posed-task.ts';
import { countAndFind } from '../task-sets/count-and-find.ts';
import { drawsAlike, isInside, pixelsOf, remembered } from '../task-sets/families.fixture.ts';
import { spotTheDifference } from '../task-sets/spot-the-difference.ts';
import { orientation } from './orientation.ts';
import { type DiagnosticFacts, orientationDiagnostic } from './orientation-diagnostic.ts';

const factsOf = ({ metadata }: Task) =>
  metadata as unknown as PoseFacts & { box: PoseFacts['boxInImage']; of: string };
const known = remembered(orientationDiagnostic);
const small = orientation.with({ of: 'documents', ofSettings: ['hardest=1', 'kinds=form+table'] });

describe('orientation', () => {
  it('gives the same task for the same index', () => drawsAlike(small, 4), 60_000);
  for (const { name, check } of taskSetContract.slice(1)) {
    it(name, () => check(remembered(small)), 60_000);
  }

  it('wraps the tasks of the gym, and images of a folder of one’s own', async () => {
    const turned = orientation.with({ of: 'needle', ofSettings: ['cells=2'] });
    const [upright, quarter] = await Promise.all([0, 1].map((i) => turned.task('heldOut', i)));
    expect(factsOf(quarter as Task)).toMatchObject({
      orientation: 'rotate_90',
      of: upright?.metadata.of,
    });
    expect(quarter?.answer).toBe(upright?.answer);
    const folder = mkdtempSync(join(tmpdir(), 'orientation-'));
    const [image] = (upright as Task).images;
    writeFileSync(join(folder, 'a.png'), image?.png ?? '');
    writeFileSync(
      join(folder, 'metadata.csv'),
      'file_name,question,answer\na.png,Which digit?,7\n',
    );
    const mapping = join(folder, 'mapping.json');
    writeFileSync(
      mapping,
      JSON.stringify({ question: 'question', images: 'image', answer: 'answer' }),
    );
    const of = [`from=${folder}`, `mapping=${mapping}`, 'heldOutShare=1'];
    const unopened = orientation.with({ of: 'dataset', ofSettings: of });
    const own = (await unopened.open?.({ onEvent: () => {} } as never)) ?? unopened;
    expect(own.size('heldOut')).toBe(6);
    expect(factsOf(await own.task('heldOut', 5))).toMatchObject({ orientation: 'flip_vertical' });
    await own.dispose?.();
  });

  it('asks the same about every pose of an image, and turns back to its very pixels', async () => {
    const base = countAndFind.with({ hardest: 1 });
    const turned = orientationOf(base, { poses });
    for (let index = 0; index < 2; index++) {
      const upright = await base.task('train', index);
      const pixels = await pixelsOf(upright.images[0] as Task['images'][number]);
      for (const [at, pose] of poses.entries()) {
        const task = await turned.task('train', index * poses.length + at);
        const facts = factsOf(task);
        expect(facts.orientation).toBe(pose);
        expect(task.answer).toBe(upright.answer);
        expect(task.question.startsWith(upright.question)).toBe(true);
        expect(facts.of).toBe(upright.id);
        expect(facts.box).toEqual(upright.metadata.box);
        const [image] = task.images;
        const { width = 0, height = 0 } = image ?? {};
        const box = facts.boxInImage ?? [0, 0, 0, 0];
        expect(isInside(box, [0, 0, width, height], image)).toBe(true);
        // The map takes pixels of the given image to those of the upright one.
        const given = await sharp(image?.png).removeAlpha().raw().toBuffer();
        const [a, b, c, d, e, f] = facts.toCanonical;
        const wide = upright.images[0]?.width ?? 0;
        for (let y = 0; y < height; y += 7) {
          for (let x = 0; x < width; x += 5) {
            const toX = Math.floor(a * (x + 0.5) + b * (y + 0.5) + c);
            const toY = Math.floor(d * (x + 0.5) + e * (y + 0.5) + f);
            const [from, to] = [(y * width + x) * 3, (toY * wide + toX) * 3];
            if (given[from] !== pixels[to] || given[from + 2] !== pixels[to + 2]) {
              throw new Error(`${pose}: pixel ${x}, ${y} is not ${toX}, ${toY}.`);
            }
          }
        }
      }
    }
  });

  it('needs the turns that undo a pose, then the tools of the task', async () => {
    const turned = orientationOf(countAndFind.with({ easiest: 3 }), { poses });
    const tools = await Promise.all(poses.map((_, index) => turned.task('heldOut', index)));
    expect(tools.map((task) => factsOf(task).requiredTools.join(' '))).toEqual([
      'crop',
      'rotate_270 crop',
      'rotate_180 crop',
      'rotate_90 crop',
      'flip_horizontal crop',
      'flip_vertical crop',
      'rotate_90 flip_vertical crop',
      'rotate_90 flip_horizontal crop',
    ]);
  });

  it('gives each pose as often where a task has one', async () => {
    const one = small.size('train');
    expect(one).toBe(6_000_000);
    const spread = orientation.with({ of: 'documents', ofSettings: ['hardest=1'], spread: 'one' });
    const given = await Promise.all(
      Array.from({ length: 12 }, (_, index) => spread.task('heldOut', index)),
    );
    for (const block of [given.slice(0, 6), given.slice(6)]) {
      expect(block.map((task) => factsOf(task).orientation).sort()).toEqual([...sixPoses].sort());
    }
    expect(new Set(given.map((task) => factsOf(task).of)).size).toBe(12);
  });

  it('turns every image of a task, and its evidence image by image', async () => {
    const turned = orientationOf(spotTheDifference, { poses: ['rotate_90'] });
    const task = await turned.task('train', 0);
    const { evidenceInImage = [] } = factsOf(task);
    expect(task.images.length).toBeGreaterThan(1);
    const upright = await spotTheDifference.task('train', 0);
    task.images.forEach(({ width, height }, at) => {
      expect([height, width]).toEqual([upright.images[at]?.width, upright.images[at]?.height]);
    });
    for (const box of evidenceInImage) {
      const [image] = task.images;
      expect(isInside(box, [0, 0, image?.width ?? 0, image?.height ?? 0], image)).toBe(true);
    }
  });

  it('says in every pose that directions mean the upright image, where a question has some', async () => {
    const turned = orientationOf(countAndFind);
    for (let index = 0; index < 36; index += 6) {
      const six = await Promise.all([0, 1].map((pose) => turned.task('train', index + pose)));
      expect(six[0]?.question).toBe(six[1]?.question);
      const hasSide = /left of|right of|above|below/.test(six[0]?.question ?? '');
      if (hasSide) expect(six[0]?.question).toContain('upright image');
    }
  });

  it('refuses unknown sets, settings and poses, films, and what is turned already', async () => {
    expect(() => orientation.with({ of: 'documnets' })).toThrow(/documents/);
    expect(() => orientation.with({ ofSettings: ['hardest'] })).toThrow(/name=value/);
    expect(() => orientation.with({ ofSettings: ['hardest=9'] })).toThrow(ConfigError);
    expect(() => orientation.with({ ofSettings: ['size=2'] })).toThrow(/size/);
    expect(() => orientation.with({ poses: ['rotate_45'] })).toThrow(/rotate_90/);
    const films = orientationOf({
      name: 'films',
      description: 'Without images.',
      size: () => 1,
      task: async () => ({ id: 'film-0', question: '?', images: [], answer: 'a', metadata: {} }),
    });
    await expect(films.task('train', 0)).rejects.toThrow(DataError);
    await expect(orientationOf(small).task('train', 0)).rejects.toThrow(/turned already/);
  });
});

describe('orientation-diagnostic', () => {
  it('gives the same task for the same index', () => drawsAlike(orientationDiagnostic, 3), 60_000);
  for (const { name, check } of taskSetContract.slice(1)) it(name, () => check(known), 60_000);

  it('has 200 held-out images, of five domains and five transformations in equal shares', async () => {
    expect(orientationDiagnostic.size('heldOut')).toBe(200);
    const tasks = await Promise.all(
      Array.from({ length: 25 }, (_, index) => known.task('heldOut', index)),
    );
    const facts = tasks.map(
      ({ metadata }) => metadata as unknown as DiagnosticFacts & { orientation: string },
    );
    const counts = new Map<string, number>();
    for (const { domain, orientation: pose } of facts) {
      counts.set(`${domain} ${pose}`, (counts.get(`${domain} ${pose}`) ?? 0) + 1);
    }
    expect(counts.size).toBe(25);
    expect(new Set(facts.map(({ of }) => of)).size).toBe(25);
    for (const [index, task] of tasks.entries()) {
      const letter = task.answer.charCodeAt(0) - 65;
      expect(facts[index]?.choices[letter]).toBe(facts[index]?.orientation);
      expect([...(facts[index]?.choices ?? [])].sort()).toEqual([...fiveTurns].sort());
    }
  });

  it('refuses a domain that is given twice or not known', () => {
    expect(() => orientationDiagnostic.with({ domains: ['maps', 'maps'] })).toThrow(/once/);
    expect(() => orientationDiagnostic.with({ domains: ['mpas'] })).toThrow(/maps/);
  });
});
