/** Tasks: a dim image with one brighter half. Which half is it? */
import { randomAt } from '@saccade/core';
import { count, type SettingsOf, z } from '@saccade/core/settings';
import { defineTaskSet, type Split, type Task } from '@saccade/gym';
import { encode } from 'fast-png';

export const question = 'Which half is brighter, left or right?';

// Each setting can be changed on the command line: --set taskSet.contrast=8
const settings = z.strictObject({
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of the images.',
  }),
  size: count({ min: 28, max: 448, default: 56, unit: 'pixels', about: 'Side of an image.' }),
  contrast: count({
    min: 1,
    max: 100,
    default: 6,
    unit: 'gray levels',
    about: 'How much brighter the bright half is; small values need the tool.',
  }),
});

export const brighterHalf = defineTaskSet({
  name: 'brighter-half',
  description: 'A dim image with one brighter half.',
  settings,
  create: (chosen) => ({
    // Tasks are generated: there is always another one.
    size: () => Number.POSITIVE_INFINITY,
    task: async (split, index) => makeTask(chosen, split, index),
  }),
});

/** The task at an index. It depends on nothing else, so every run sees the same tasks. */
function makeTask(
  { seed, size, contrast }: SettingsOf<typeof settings>,
  split: Split,
  index: number,
): Task {
  const id = `brighter-half/${split}/${index}`;
  const random = randomAt(seed, id);
  const answer = random.integer(2) === 0 ? 'left' : 'right';
  const data = new Uint8Array(size * size * 3);
  for (let pixel = 0; pixel < size * size; pixel++) {
    const side = pixel % size < size / 2 ? 'left' : 'right';
    const level = 100 + random.integer(3) + (side === answer ? contrast : 0);
    data.fill(level, 3 * pixel, 3 * pixel + 3);
  }
  const png = encode({ width: size, height: size, data, channels: 3, depth: 8 });
  return {
    id,
    question,
    images: [{ name: 'image_0', png, width: size, height: size }],
    answer,
    // Facts for rewards and reports.
    metadata: { contrast },
  };
}
