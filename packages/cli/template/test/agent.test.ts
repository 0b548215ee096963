import { checkRun, inputOf, resolveRun } from '@saccade/train';
import { decode } from 'fast-png';
import { expect, it } from 'vitest';
import { recipe } from '../my-recipe.ts';
import { medianAdvantage } from '../src/algorithm.ts';
import { brighterHalf } from '../src/tasks.ts';

it('is a recipe that can run', () => {
  const run = resolveRun(inputOf(recipe));
  checkRun(run);
  expect(run.outside).toEqual(['taskSet', 'tools', 'coldStart', 'reward', 'algorithm']);
});

it('makes the same task at the same index, and names the brighter half', async () => {
  for (let index = 0; index < 20; index++) {
    const task = await brighterHalf.task('train', index);
    expect(await brighterHalf.task('train', index)).toEqual(task);
    const [image] = task.images;
    const { data, width, height } = decode(image?.png ?? new Uint8Array());
    const sums = { left: 0, right: 0 };
    for (let pixel = 0; pixel < width * height; pixel++) {
      sums[pixel % width < width / 2 ? 'left' : 'right'] += data[3 * pixel] ?? 0;
    }
    expect(task.answer).toBe(sums.left > sums.right ? 'left' : 'right');
  }
});

it('pays advantages relative to the median of the group', () => {
  const group = { rewards: Float64Array.from([0, 0, 1.2]), tokenCounts: [1, 1, 1], terms: {} };
  expect([...medianAdvantage(group)]).toEqual([0, 0, 1.2]);
});
