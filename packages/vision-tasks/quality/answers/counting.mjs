/** Counts things by crops that are compared with drawings of the kinds. */
import { drawingsOf } from '../drawings.mjs';

export const uses = 'crops compared with drawings of the kinds, as one who knows them compares';
export const tools = [];

export const questionType = ({ metadata }) =>
  `${metadata.program.operation} ${metadata.difficulty}`;

/** The answer as `quality/python/count_things.py` finds it. */
export async function answer({ question, images }, eyes) {
  // What the held-out kinds look like is knowledge of the one who looks, not of the task.
  const { kinds, drawings, masks } = await drawingsOf('heldOut');
  const given = [...images, drawings, masks];
  return (await eyes.python('count_things', { question, kinds }, given)) ?? undefined;
}
