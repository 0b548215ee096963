/** The contract of task sets, as plain checks. Each throws an Error that says what is broken. */
import { createHash } from 'node:crypto';
import type { Split, Task, TaskSet } from './task.ts';

/** One check of `taskSetContract`, for any test runner. */
export interface TaskSetCheck {
  /** The sentence it proves. */
  readonly name: string;
  check(taskSet: TaskSet): Promise<void>;
}

/**
 * The checks that every task set must pass: stable tasks, unique ids, PNG images of the stated
 * size.
 */
export const taskSetContract: readonly TaskSetCheck[] = [
  { name: 'gives the same task for the same index', check: checkStable },
  { name: 'gives every task an id of its own, in both splits', check: checkIds },
  { name: 'asks a question with an answer and images that are PNG files', check: checkWhole },
  { name: 'gives every image and video a name of its own, and video files', check: checkVideos },
];

const splits: readonly Split[] = ['train', 'heldOut'];
const sampled = 6;

async function tasksOf(taskSet: TaskSet, split: Split): Promise<readonly Task[]> {
  const count = Math.min(sampled, taskSet.size(split));
  if (!(count >= 1)) throw new Error(`${taskSet.name} has no tasks in ${split}.`);
  return await Promise.all(Array.from({ length: count }, (_, i) => taskSet.task(split, i)));
}

async function checkStable(taskSet: TaskSet): Promise<void> {
  for (const split of splits) {
    const [first, second] = [await tasksOf(taskSet, split), await tasksOf(taskSet, split)];
    first.forEach((task, index) => {
      if (fingerprint(task) === fingerprint(second[index])) return;
      throw new Error(`${taskSet.name} gives two tasks for index ${index} of ${split}.`);
    });
  }
}

/** Everything in a task as text, with the bytes of images and videos as digests. */
function fingerprint(task: Task | undefined): string {
  const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const images = task?.images.map(({ png, ...rest }) => ({ ...rest, digest: digest(png) }));
  const videos = task?.videos?.map(({ encoded, ...rest }) => {
    return { ...rest, digest: digest(encoded) };
  });
  return JSON.stringify({ ...task, images, videos });
}

async function checkIds(taskSet: TaskSet): Promise<void> {
  const seen = new Set<string>();
  for (const split of splits) {
    for (const { id } of await tasksOf(taskSet, split)) {
      if (seen.has(id)) throw new Error(`${taskSet.name} calls two tasks ${id}.`);
      seen.add(id);
    }
  }
}

async function checkWhole(taskSet: TaskSet): Promise<void> {
  for (const split of splits) {
    for (const task of await tasksOf(taskSet, split)) {
      if (task.question.trim() === '') throw new Error(`Task ${task.id} asks nothing.`);
      if (task.answer.trim() === '') throw new Error(`Task ${task.id} has no answer.`);
      for (const { name, png, width, height } of task.images) {
        const [foundWidth, foundHeight] = pngSize(png) ?? [];
        if (foundWidth === width && foundHeight === height) continue;
        throw new Error(
          `Image ${name} of ${task.id} must be a PNG file of ${width}×${height}, got ` +
            `${foundWidth === undefined ? 'something else' : `${foundWidth}×${foundHeight}`}.`,
        );
      }
    }
  }
}

async function checkVideos(taskSet: TaskSet): Promise<void> {
  for (const split of splits) {
    for (const { id, images, videos = [] } of await tasksOf(taskSet, split)) {
      const names = [...images, ...videos].map(({ name }) => name);
      if (new Set(names).size < names.length) {
        throw new Error(`Task ${id} has two images or videos of the same name: ${names}.`);
      }
      for (const { name, encoded, width, height, framesPerSecond, frameCount } of videos) {
        const facts = [encoded.length, width, height, framesPerSecond, frameCount];
        if (facts.every((fact) => fact > 0)) continue;
        throw new Error(`Video ${name} of ${id} must have bytes, a size, a rate and frames.`);
      }
    }
  }
}

/** Width and height from a PNG file's header; undefined if it is none. */
function pngSize(bytes: Uint8Array): readonly [number, number] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < 24 || buffer.toString('latin1', 1, 4) !== 'PNG') return undefined;
  return [buffer.readUInt32BE(16), buffer.readUInt32BE(20)];
}
