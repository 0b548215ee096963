/**
 * `orientation`: the tasks of any task set of images, upright, turned and flipped.
 *
 * CodeVision, arXiv:2512.03746, §4.2: the same question about the upright image, three quarter turns and
 * two flips; the score is the mean of the six. `requiredTools` says what has to be undone.
 */
import { choice, count, textList } from '@saccade/core/settings';
import { defineTaskSet } from '@saccade/gym';
import { z } from 'zod';
import { orientationOf } from '../orientation/orientation-of.ts';
import { poses, sixPoses } from '../orientation/pose.ts';
import { someOf } from '../task-sets/difficulty.ts';
import { baseSettings, baseTaskSet } from './base-task-set.ts';

const settings = z.strictObject({
  ...baseSettings('documents'),
  poses: textList({
    unit: 'poses',
    about:
      `Some of ${poses.join(', ')}; the last two are a turn and a flip together. None means the ` +
      'first six.',
  }),
  spread: choice(['all', 'one'], {
    default: 'all',
    about: 'all: every task in every pose; one: every task in one pose, each pose as often.',
  }),
  seed: count({
    min: 0,
    max: 0xffffffff,
    default: 0,
    unit: '32-bit integer',
    about: 'Seed of the order of poses where each task has one; tasks have a seed of their own.',
  }),
});

/** Any task set of images in the six poses of CodeVision. */
export const orientation = defineTaskSet({
  name: 'orientation',
  description:
    'The tasks of another task set, with images upright, turned by quarters, or flipped.',
  settings,
  create({ of, ofSettings, poses: given, spread, seed }) {
    const chosen = given.length === 0 ? sixPoses : someOf('poses', given, poses);
    return orientationOf(baseTaskSet(of, ofSettings), { poses: chosen, spread, seed });
  },
});
