import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomAt, SaccadeError } from '@saccade/core';
import type { Task, TaskSet } from '@saccade/gym';
import { describe, expect, it } from 'vitest';
import { exportTasks } from './export/export-tasks.ts';
import { writers } from './registry.ts';
import { image, temporaryFolder } from './samples.fixture.ts';
import { DataSource } from './sources/data-source.ts';
import { sourceSettings } from './sources/source-settings.ts';

/** Mutations of each format; `npm run sweep` has ten times as many. */
const MUTATIONS = process.env.SACCADE_SWEEP === '1' ? 600 : 40;
const ROWS = 12;

const small: TaskSet = {
  name: 'small',
  description: 'Tasks of this test.',
  size: () => ROWS,
  async task(split, index): Promise<Task> {
    const png = await image(index);
    return {
      id: `small-${split}-${index}`,
      question: `Question ${index}?`,
      images: [{ name: 'image_clue_0', png, width: 24, height: 16 }],
      answer: `${index}`,
      metadata: { index },
    };
  },
};

/** Changes bytes, cuts, repeats or fills with what length fields fear. */
function mutate(bytes: Uint8Array, number: number): Uint8Array {
  const random = randomAt(7, 'mutation', number);
  const copy = Buffer.from(bytes);
  const at = () => random.integer(copy.length);
  switch (number % 5) {
    case 0:
      for (let i = 0; i < 1 + random.integer(8); i++) copy[at()] = random.integer(256);
      return copy;
    case 1:
      return copy.subarray(0, at());
    case 2: {
      const from = at();
      copy.fill(random.pick([0, 0x7f, 0xff]), from, Math.min(copy.length, from + 1 + random.integer(64)));
      return copy;
    }
    case 3: {
      const from = at();
      return Buffer.concat([copy.subarray(0, from), copy.subarray(Math.floor(from / 2))]);
    }
    default:
      // Lengths and counts stand at the ends of most formats.
      for (let i = 0; i < 4; i++) copy[copy.length - 1 - random.integer(Math.min(600, copy.length))] = random.integer(256);
      return copy;
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/README|\.png$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Reads every row; gives how many were tasks and how many corrupt. */
async function readAll(folder: string): Promise<{ readonly tasks: number; readonly corrupt: number }> {
  const settings = sourceSettings.parse({ from: folder, name: 's', maxCorruptShare: 1, maxRowBytes: 2 ** 24 });
  const source = await DataSource.open(settings);
  let [tasks, corrupt] = [0, 0];
  try {
    for (const split of ['train', 'heldOut'] as const) {
      // A damaged count may say that there are rows without end.
      for (let number = 0; number < Math.min(source.size(split), 4 * ROWS); number++) {
        if (typeof (await source.mapped(split, number)) === 'string') corrupt++;
        else tasks++;
      }
    }
  } finally {
    await source.dispose();
  }
  return { tasks, corrupt };
}

describe.each(writers.names)('damaged %s', (format) => {
  it('gives tasks, counted corrupt rows, or one typed error; never a crash or a hang', async () => {
    const folder = join(await temporaryFolder(), 'out');
    await exportTasks(small, { directory: folder, writer: writers.get(format), counts: {}, title: 't' });
    const files = await filesIn(folder);
    expect(await readAll(folder)).toEqual({ tasks: 2 * ROWS, corrupt: 0 });
    const outcomes = { whole: 0, corrupt: 0, refused: 0 };
    for (let number = 0; number < MUTATIONS; number++) {
      const path = files[number % files.length] as string;
      const before = await readFile(path);
      await writeFile(path, mutate(before, number));
      try {
        const { corrupt } = await readAll(folder);
        if (corrupt > 0) outcomes.corrupt++;
        else outcomes.whole++;
      } catch (error) {
        expect(error, `mutation ${number} of ${path}`).toBeInstanceOf(SaccadeError);
        outcomes.refused++;
      }
      await writeFile(path, before);
    }
    expect(outcomes.corrupt + outcomes.refused).toBeGreaterThan(0);
  });
});
