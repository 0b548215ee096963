import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Split, Task } from '@saccade/gym';
import { afterAll, describe, expect, it } from 'vitest';
import { mvtool } from '../task-sets/mvtool.ts';
import { cachedTasks } from './task-cache.ts';

const folder = await mkdtemp(join(tmpdir(), 'saccade-tasks-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A task set that counts how often it draws. */
function counted() {
  let drawn = 0;
  return {
    drawn: () => drawn,
    size: () => 10,
    async task(split: Split, index: number): Promise<Task> {
      drawn++;
      const png = Uint8Array.from([index, 7, split.length]);
      return {
        id: `counted-${split}-${index}`,
        question: 'Which?',
        images: [{ name: 'image_clue_0', png, width: 3, height: 1 }],
        videos: [
          {
            ...{ name: 'video_clue_0', encoded: Uint8Array.from([9, index]), width: 1, height: 1 },
            ...{ framesPerSecond: 8, frameCount: 2 },
          },
        ],
        answer: String(index),
        metadata: { box: [0, 0, 3, 1] },
      };
    },
  };
}

const bytesOf = ({ images, videos = [] }: Task) => [
  ...images.map(({ png }) => [...png]),
  ...videos.map(({ encoded }) => [...encoded]),
];

describe('kept tasks', () => {
  it('are drawn once, also where many ask at the same time, and are the same to the last byte', async () => {
    const plain = counted();
    const kept = cachedTasks(plain, 'counted', { seed: 0 }, join(folder, 'once'));
    const many = await Promise.all(Array.from({ length: 8 }, () => kept.task('train', 3)));
    expect(plain.drawn()).toBe(1);
    const again = await cachedTasks(plain, 'counted', { seed: 0 }, join(folder, 'once')).task(
      'train',
      3,
    );
    expect(plain.drawn()).toBe(1);
    const fresh = await counted().task('train', 3);
    for (const task of [...many, again]) {
      expect(bytesOf(task)).toEqual(bytesOf(fresh));
      expect(task).toMatchObject({ id: fresh.id, answer: '3', metadata: { box: [0, 0, 3, 1] } });
    }
  });

  it('are others for other settings, splits and indices', async () => {
    const plain = counted();
    const at = (seed: number) => cachedTasks(plain, 'counted', { seed }, join(folder, 'keys'));
    await at(0).task('train', 1);
    await at(1).task('train', 1);
    await at(0).task('heldOut', 1);
    await at(0).task('train', 2);
    expect(plain.drawn()).toBe(4);
  });

  it('are drawn again where a file is damaged, missing or half a record', async () => {
    const place = join(folder, 'damaged');
    const plain = counted();
    const kept = () => cachedTasks(plain, 'counted', {}, place);
    const first = await kept().task('train', 5);
    const objects = (
      await readdir(join(place, 'objects'), { recursive: true, withFileTypes: true })
    )
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const [record = ''] = await readdir(join(place, 'tasks'));
    const path = join(place, 'tasks', record);
    const whole = await readFile(path, 'utf8');
    const faults = [
      () => writeFile(objects[0] ?? '', 'damaged'),
      () => rm(objects[1] ?? ''),
      () => writeFile(path, whole.slice(0, 40)),
      () => writeFile(path, ''),
    ];
    for (const [index, fault] of faults.entries()) {
      await fault();
      expect(bytesOf(await kept().task('train', 5))).toEqual(bytesOf(first));
      expect(plain.drawn()).toBe(2 + index);
      expect(bytesOf(await kept().task('train', 5))).toEqual(bytesOf(first));
      expect(plain.drawn()).toBe(2 + index);
    }
    const left = await readdir(place, { recursive: true });
    expect(left.filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('come from a task set’s setting', async () => {
    const settings = { width: 1600, largestShare: 0.002, hardest: 1 };
    const set = mvtool.with({ ...settings, cache: join(folder, 'mvtool') });
    const [drawn, read] = [await set.task('train', 0), await set.task('train', 0)];
    const plain = await mvtool.with(settings).task('train', 0);
    expect(
      Buffer.from(read.images[0]?.png ?? []).equals(Buffer.from(plain.images[0]?.png ?? [])),
    ).toBe(true);
    expect(read.metadata).toEqual(JSON.parse(JSON.stringify(plain.metadata)));
    expect(drawn.id).toBe(plain.id);
  });
});
