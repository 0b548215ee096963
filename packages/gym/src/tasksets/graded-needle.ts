/**
 * `graded-needle`: which digit is hidden in the picture, on easy tables and on hard ones?
 *
 * Half of the tables are those of `needle`: the answer takes a look. On the other half the digit is
 * printed large as well, and the overview suffices.
 */
import type { TaskSet } from '../task.ts';
import { turnedNeedleWith } from './turned-needle.ts';

export const gradedNeedle: TaskSet = {
  ...turnedNeedleWith({ name: 'graded-needle', turnedShare: 0, easyShare: 0.5 }),
  description: 'The tables of needle, on half of them the digit printed large: no look is needed.',
};
