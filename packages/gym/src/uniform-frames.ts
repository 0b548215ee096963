/** The usual way to show a video: frames at equal distances in the context, before the question. */
import { ConfigError, DataError } from '@saccade/core';
import { type Sandbox, SandboxError } from '@saccade/sandbox';
import type { Task, TaskImage, TaskSet, TaskVideo } from './task.ts';

/** Images of one execution; every sandbox keeps this many. */
const AT_ONCE = 4;

/**
 * The frames in the middle of `count` equal parts of a video.
 *
 *   i_k = ⌊(k + ½)·F / count⌋,  k = 0 … count − 1
 *
 * @param frameCount F; with fewer frames than parts, all of them
 */
export function uniformIndices(frameCount: number, count: number): readonly number[] {
  const parts = Math.min(count, frameCount);
  return Array.from({ length: parts }, (_, k) => Math.floor(((k + 0.5) * frameCount) / parts));
}

/**
 * The same tasks with frames of their videos as images, decoded in the sandbox at full resolution:
 * `count` of each video, named `image_clue_k` in the order of time. The runtime keeps the videos.
 *
 * @throws ConfigError unless `count` is a whole number of at least 1
 */
export function uniformFrames(
  taskSet: TaskSet,
  { sandbox, count }: { readonly sandbox: Sandbox; readonly count: number },
): TaskSet {
  if (!(Number.isInteger(count) && count >= 1)) {
    throw new ConfigError('count', `count must be a whole number of at least 1, got ${count}.`);
  }
  return {
    name: taskSet.name,
    description: `${taskSet.description} ${count} frames of each video are given.`,
    size: (split) => taskSet.size(split),
    async task(split, index) {
      const task = await taskSet.task(split, index);
      return { ...task, images: await withFrames(task, sandbox, count) };
    },
  };
}

async function withFrames(
  { id, images, videos = [] }: Task,
  sandbox: Sandbox,
  count: number,
): Promise<readonly TaskImage[]> {
  const shown: TaskImage[] = [...images];
  if (videos.length === 0) return shown;
  const session = await sandbox.open({
    videos: videos.map(({ name, encoded }) => ({ name, encoded })),
  });
  try {
    for (const video of videos) {
      const indices = uniformIndices(video.frameCount, count);
      for (let first = 0; first < indices.length; first += AT_ONCE) {
        const wanted = indices.slice(first, first + AT_ONCE);
        const code = `for i in [${wanted}]: Image.fromarray(${video.name}[i]).show()`;
        const { kind, error, images: frames } = await session.execute(code);
        if (kind === 'infraError') throw new SandboxError(`${error?.message}`);
        if (kind !== 'ok' || frames.length < wanted.length) throw unreadable(id, video, error);
        for (const { png, width, height } of frames) {
          shown.push({ name: `image_clue_${shown.length}`, png, width, height });
        }
      }
    }
  } finally {
    await session.dispose();
  }
  return shown;
}

function unreadable(
  id: string,
  { name }: TaskVideo,
  error?: { readonly message: string },
): DataError {
  return new DataError(
    `Frames of ${name} of ${id} cannot be shown: ${error?.message ?? 'some are missing'}. ` +
      'Check that the file has as many frames as the task says.',
  );
}
