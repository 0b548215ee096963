/** Any set of image tasks in several poses: the same questions and answers, the images turned or flipped. */
import type { Split, TaskSet } from '@saccade/gym';
import { balancedChoice } from './balanced.ts';
import { type Pose, sixPoses } from './pose.ts';
import { posedTask } from './posed-task.ts';

/** How poses are given to tasks. */
export interface OrientationOptions {
  /** Default: the upright image, three quarter turns and two flips. */
  readonly poses?: readonly Pose[];
  /**
   * `all`: every task in every pose, one after the other, as an evaluation compares them. `one`: every
   * task in one pose, each pose as often. Default: `all`.
   */
  readonly spread?: 'all' | 'one';
  /** Seed of the order of poses with `one`. Default: 0. */
  readonly seed?: number;
}

/**
 * The tasks of a set in several poses. CodeVision, arXiv:2512.03746, §4.2, evaluates every image upright,
 * turned by 90, 180 and 270 degrees, and flipped both ways, and reports the mean of the six.
 *
 * Boxes stay those of the upright image, as rewards read them beside `toCanonical`; `boxInImage` and
 * `evidenceInImage` are where they lie in the given one.
 */
export function orientationOf(taskSet: TaskSet, options: OrientationOptions = {}): TaskSet {
  const { poses = sixPoses, spread = 'all', seed = 0 } = options;
  const each = spread === 'all' ? poses.length : 1;
  const name = `orientation-${taskSet.name}`;
  const { open, dispose } = taskSet;
  return {
    name,
    description: `${taskSet.description} The images are upright, turned or flipped.`,
    size: (split) => taskSet.size(split) * each,
    async task(split: Split, index: number) {
      const pose =
        spread === 'all'
          ? (poses[index % each] as Pose)
          : balancedChoice(poses, index, seed, 'orientation', split);
      const base = await taskSet.task(split, Math.floor(index / each));
      const task = await posedTask(base, pose);
      const id = `${name}-${split}-${String(index).padStart(6, '0')}`;
      return { ...task, id, metadata: { ...task.metadata, of: base.id } };
    },
    ...(open && { open: async (context) => orientationOf(await open(context), options) }),
    ...(dispose && { dispose: () => dispose() }),
  };
}
