/** Tasks of a task set, for tests. */
import type { Box, Split, Task, TaskImage, TaskSet } from '@saccade/gym';
import sharp from 'sharp';

const splits: readonly Split[] = ['train', 'heldOut'];

/** The first tasks of both splits. */
export async function tasksOf(
  taskSet: TaskSet,
  perSplit: number,
): Promise<Readonly<Record<Split, readonly Task[]>>> {
  const [train = [], heldOut = []] = await Promise.all(
    splits.map((split) =>
      Promise.all(Array.from({ length: perSplit }, (_, index) => taskSet.task(split, index))),
    ),
  );
  return { train, heldOut };
}

/** Whether a box has an area and lies in an image and in another box. */
export function isInside(box: Box, outer: Box, image: TaskImage | undefined): boolean {
  const { width = 0, height = 0 } = image ?? {};
  const [left, top, right, bottom] = box;
  return (
    left >= Math.max(0, outer[0]) &&
    top >= Math.max(0, outer[1]) &&
    right <= Math.min(width, outer[2]) &&
    bottom <= Math.min(height, outer[3]) &&
    right > left &&
    bottom > top
  );
}

/** [height, width, 3] red, green and blue of an image. */
export async function pixelsOf({ png }: TaskImage): Promise<Buffer> {
  return await sharp(png).removeAlpha().raw().toBuffer();
}

/** The same tasks, each made once: for checks that do not ask whether it comes again. */
export function remembered(taskSet: TaskSet): TaskSet {
  const made = new Map<string, Promise<Task>>();
  return {
    ...taskSet,
    size: (split) => taskSet.size(split),
    task(split, index) {
      const key = `${split}/${index}`;
      const known = made.get(key) ?? taskSet.task(split, index);
      made.set(key, known);
      return known;
    },
  };
}

/** Throws unless an index gives the same bytes again; drawing twice is all that it takes. */
export async function drawsAlike(taskSet: TaskSet, index: number): Promise<void> {
  for (const split of splits) {
    const [one, other] = [await taskSet.task(split, index), await taskSet.task(split, index)];
    const textOf = ({ images, videos = [], ...rest }: Task) => JSON.stringify(rest);
    const bytesOf = ({ images, videos = [] }: Task) =>
      Buffer.concat([...images.map(({ png }) => png), ...videos.map(({ encoded }) => encoded)]);
    if (textOf(one) === textOf(other) && bytesOf(one).equals(bytesOf(other))) continue;
    throw new Error(`${taskSet.name} gives two tasks for index ${index} of ${split}.`);
  }
}
