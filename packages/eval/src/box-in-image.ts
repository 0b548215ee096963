/** Where what a task asks about lies in the picture that was given. */
import { type Box, invertAffine, mapBox } from '@saccade/code-effects';
import type { Task } from '@saccade/gym';
import { taskFacts } from '@saccade/rewards';

/** The task's box, turned as its picture was; undefined for a task without. */
export function boxInPicture({ metadata }: Pick<Task, 'metadata'>): Box | undefined {
  const { box, toCanonical } = taskFacts({ metadata });
  const back = toCanonical === undefined ? undefined : invertAffine(toCanonical);
  return box === undefined || back === undefined ? box : mapBox(back, box);
}
