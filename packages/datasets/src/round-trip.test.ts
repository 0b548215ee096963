import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task, TaskSet } from '@saccade/gym';
import { taskSetContract } from '@saccade/gym/contract';
import { describe, expect, it } from 'vitest';
import { exportTasks } from './export/export-tasks.ts';
import { datasetTaskSets, writers } from './registry.ts';
import { image, temporaryFolder } from './samples.fixture.ts';
import { dataset } from './task-sets/dataset.ts';

const TRAIN = 23;
const HELD_OUT = 7;

/** Questions with quotes, commas, line breaks and letters of other scripts. */
const given: TaskSet = {
  name: 'given',
  description: 'Tasks of this test.',
  size: (split) => (split === 'train' ? TRAIN : HELD_OUT),
  async task(split, index): Promise<Task> {
    const number = index + (split === 'train' ? 0 : 100);
    const png = await image(number);
    return {
      id: `given-${split}-${index}`,
      question: `Where is "it", ${number}?\nÄ 東`,
      images: [{ name: 'image_clue_0', png, width: 24, height: 16 }],
      answer: `at ${number}`,
      metadata: { box: [1, 2, 3, number], difficulty: 'easy' },
    };
  },
};

async function exported(format: string): Promise<string> {
  const directory = join(await temporaryFolder(), 'out');
  await exportTasks(given, {
    directory,
    writer: writers.get(format),
    counts: {},
    title: 'Given tasks',
    license: 'cc0-1.0',
  });
  return directory;
}

const opened = async (from: string, changed: object = {}): Promise<TaskSet> => {
  const unit = dataset.with({ from, shuffleBytes: 0, name: 'given', ...changed });
  return (await unit.open?.({} as never)) ?? unit;
};

describe.each(writers.names)('an export as %s', (format) => {
  it('is read back with the same rows, pixels and order, and its license', async () => {
    const directory = await exported(format);
    const taskSet = await opened(directory);
    expect(taskSet.size('heldOut')).toBe(HELD_OUT);
    for (const split of ['train', 'heldOut'] as const) {
      for (let index = 0; index < (split === 'train' ? TRAIN : HELD_OUT); index++) {
        const [before, after] = [await given.task(split, index), await taskSet.task(split, index)];
        expect(after.question).toBe(before.question);
        expect(after.answer).toBe(before.answer);
        expect(after.metadata).toMatchObject({ ...before.metadata, source: 'given' });
        expect(Buffer.from(after.images[0]?.png ?? [])).toEqual(
          Buffer.from(before.images[0]?.png ?? []),
        );
      }
    }
    expect(taskSet.facts?.()).toMatchObject([
      { license: 'cc0-1.0', title: 'Given tasks', trainRows: TRAIN, heldOutRows: HELD_OUT },
    ]);
    await taskSet.dispose?.();
  });

  it('keeps the contract of task sets, shuffled and in passes', async () => {
    const taskSet = await opened(await exported(format), { shuffleBytes: 2 ** 20, seed: 3 });
    for (const { check } of taskSetContract) await check(taskSet);
    const ids = new Set<string>();
    for (let index = 0; index < 2 * TRAIN; index++) {
      ids.add((await taskSet.task('train', index)).id);
    }
    expect(ids.size).toBe(2 * TRAIN);
    await taskSet.dispose?.();
  });
});

describe('an export', () => {
  it('refuses a folder that is not empty', async () => {
    const directory = await temporaryFolder();
    await writeFile(join(directory, 'mine.txt'), '');
    const options = { directory, writer: writers.get('parquet'), counts: {}, title: 't' };
    await expect(exportTasks(given, options)).rejects.toThrow(/is not empty/);
  });

  it('asks for a count where a split has no end', async () => {
    const endless = { ...given, size: () => Number.POSITIVE_INFINITY };
    const directory = join(await temporaryFolder(), 'out');
    const options = { directory, writer: writers.get('parquet'), counts: {}, title: 't' };
    await expect(exportTasks(endless, options)).rejects.toThrow(/train of given has no end/);
  });

  it('divides a split into shards', async () => {
    const directory = join(await temporaryFolder(), 'out');
    const options = { directory, counts: {}, title: 't', maxShardBytes: 4000 };
    for (const format of ['parquet', 'webdataset']) {
      const result = await exportTasks(given, {
        ...options,
        directory: join(directory, format),
        writer: writers.get(format),
      });
      expect(result.splits.train?.files.length).toBeGreaterThan(1);
      const taskSet = await opened(join(directory, format));
      expect((await taskSet.task('train', TRAIN - 1)).answer).toBe(`at ${TRAIN - 1}`);
      await taskSet.dispose?.();
    }
  });
});

it('has its task sets by name', () => {
  expect(datasetTaskSets.names).toEqual(['dataset', 'mixture']);
});
